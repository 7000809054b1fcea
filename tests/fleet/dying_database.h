// DyingDatabase simulates a process that is killed between any two of its statements.
#ifndef RAPIDEYE_TESTS_FLEET_DYING_DATABASE_H_
#define RAPIDEYE_TESTS_FLEET_DYING_DATABASE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/fleet/database.h"

namespace rapideye::testing {

// Lets statements through until `left` of them are used up, which all databases of the
// process share. Then the connection is gone, and with it what was not committed.
class DyingDatabase final : public coordinator::Database {
 public:
  // `left` outlives it.
  DyingDatabase(std::unique_ptr<coordinator::Database> real, int& left)
      : real_(std::move(real)), left_(left) {}

  using coordinator::Database::Run;
  absl::StatusOr<std::vector<coordinator::Row>> Run(
      const std::string& statement, const std::vector<coordinator::Value>& values) override {
    return Alive() ? real_->Run(statement, values) : absl::UnavailableError("dead");
  }
  absl::Status Begin() override {
    return Alive() ? real_->Begin() : absl::UnavailableError("dead");
  }
  absl::StatusOr<absl::Time> WallClock() override { return absl::UnimplementedError(""); }
  std::string Name() const override { return "dying"; }

 private:
  bool Alive() {
    if (left_-- <= 0) real_.reset();
    return real_ != nullptr;
  }

  std::unique_ptr<coordinator::Database> real_;
  int& left_;
};

}  // namespace rapideye::testing

#endif  // RAPIDEYE_TESTS_FLEET_DYING_DATABASE_H_
