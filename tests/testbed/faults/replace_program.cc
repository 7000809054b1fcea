#include "tests/testbed/faults/replace_program.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::testbed {

absl::Status ReplaceProgram(const ControlLine& line, Worker& worker, absl::string_view fault,
                            ProgramPtr (*make)(const Worker& worker, int number)) {
  absl::StatusOr<int> number = IntegerArgument(line, "program", 0);
  if (!number.ok()) return number.status();
  if (*number < 0 || *number >= static_cast<int>(worker.step().size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("program=", *number, ": a step has ", worker.step().size(), " programs"));
  }
  const ProgramPtr replacement = make(worker, *number);
  worker.dumps().Write(*replacement);
  // Shared, because the host copies its rewrites.
  auto announced = std::make_shared<bool>(false);
  worker.host().AddRewrite([&worker, fault, number = *number, replacement, announced](
                               int64_t, Step& step, const std::stop_token&) {
    step[number] = replacement;
    if (std::exchange(*announced, true)) return;
    worker.AnnounceEffect(fault, absl::StrCat("module=", replacement->module, " fingerprint=",
                                              FingerprintHex(replacement->fingerprint)));
  });
  return absl::OkStatus();
}

}  // namespace rapideye::testbed
