// Dumps programs as XLA does with --xla_dump_to.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_HLO_DUMPS_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_HLO_DUMPS_H_

#include <atomic>
#include <string>

#include "tests/testbed/model/program.h"

namespace rapideye::testbed {

// Any thread.
class HloDumps {
 public:
  // Makes the directory; "": dumps nothing.
  explicit HloDumps(std::string directory);

  // The program has been compiled.
  void Write(const Program& program);

 private:
  const std::string directory_;
  std::atomic<int> modules_ = 0;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_HLO_DUMPS_H_
