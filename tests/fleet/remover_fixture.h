// Runs a remover over a real database, with hooks that only record their runs.
#ifndef RAPIDEYE_TESTS_FLEET_REMOVER_FIXTURE_H_
#define RAPIDEYE_TESTS_FLEET_REMOVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/removal/remover.h"
#include "tests/fleet/history_fixture.h"

namespace rapideye::coordinator {

// Thread-safe.
class RecordingHooks final : public HookRunner {
 public:
  HookResult Run(const HookCall& call) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
    return {succeed_, succeed_ ? "exit status 0" : "exit status 1", ""};
  }
  void Succeed(bool succeed) {
    const std::lock_guard lock(mutex_);
    succeed_ = succeed;
  }
  std::vector<HookCall> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  mutable std::mutex mutex_;  // guards all below
  std::vector<HookCall> calls_;
  bool succeed_ = true;
};

class RemoverFixture : public HistoryFixture {
 protected:
  Remover::Settings Settings(const std::string& holder = "remover") {
    Remover::Settings settings;
    settings.policy.mode = RemovalMode::kEnforce;
    settings.hooks = {"/hooks/drain"};
    settings.holder = holder;
    settings.lease = absl::Minutes(2);
    settings.now = [this] { return now_; };
    return settings;
  }
  Remover Make(Database& database, Remover::Settings settings) {
    return Remover::Make(database, hooks_, std::move(settings)).value();
  }

  // So many incidents with the same bad chip; the machine stood somewhere else each
  // time.
  void Fail(const std::string& hardware, int times, Grounds grounds = Grounds::kRepetition) {
    for (int i = 0; i < times; ++i) {
      CulpritRecord culprit = BadChip(hardware, next_);
      culprit.grounds = grounds;
      IncidentRecord incident = Incident(absl::StrCat("i", next_++), now_, {std::move(culprit)});
      incident.digest = "{}";
      incident.hosts = 1000;
      ASSERT_TRUE(history_.Record(incident, now_).ok());
    }
  }

  RecordingHooks hooks_;
  absl::Time now_ = kThen;
  int next_ = 1;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_TESTS_FLEET_REMOVER_FIXTURE_H_
