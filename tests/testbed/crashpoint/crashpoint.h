// Makes a coordinator die at a point (points.h).
#ifndef RAPIDEYE_TESTS_TESTBED_CRASHPOINT_CRASHPOINT_H_
#define RAPIDEYE_TESTS_TESTBED_CRASHPOINT_CRASHPOINT_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "coordinator/daemon/coordinator.h"
#include "coordinator/store/disk.h"
#include "tests/testbed/crashpoint/points.h"

namespace rapideye::testbed {

class CrashPoints {
 public:
  explicit CrashPoints(std::string deadly) : deadly_(std::move(deadly)) {}

  // Puts points into the coordinator's work. The points must outlive the coordinator.
  void Watch(coordinator::CoordinatorSettings& settings);

  // Passes the next point of this kind: SIGKILL, if it is the deadly one. Returns the
  // point's name. Thread-safe.
  std::string Pass(const std::string& kind);
  bool Deadly(const std::string& point) const { return !point.empty() && point == deadly_; }

 private:
  void OnEvent(const coordinator::Event& event);
  void OnEffect(const coordinator::Effect& effect);

  const std::string deadly_;
  std::mutex mutex_;
  std::map<std::string, int> passed_;  // by kind
  std::unique_ptr<coordinator::Disk> disk_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_CRASHPOINT_CRASHPOINT_H_
