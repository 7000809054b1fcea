#include "tests/testbed/faults/place.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

// Where in which program the chip stops.
struct Place {
  Fingerprint fingerprint{};
  int operation = 0;
};

absl::StatusOr<Place> FindPlace(const ControlLine& line, const Worker& worker) {
  absl::StatusOr<std::string> where = StringArgument(line, "where");
  if (!where.ok()) return where.status();
  if (*where != "before" && *where != "after") {
    return absl::InvalidArgumentError(
        absl::StrCat("where=", *where, ": give before or after (the last collective)"));
  }
  absl::StatusOr<int> number = IntegerArgument(line, "program", 0);
  if (!number.ok()) return number.status();
  if (*number < 0 || *number >= static_cast<int>(worker.step().size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("program=", *number, ": a step has ", worker.step().size(), " programs"));
  }
  const Program& program = *worker.step()[*number];
  const std::vector<int> places =
      *where == "before" ? ComputeBefore(program) : ComputeAfter(program);
  absl::StatusOr<int> compute = IntegerArgument(line, "compute", 0);
  if (!compute.ok()) return compute.status();
  if (*compute < 0 || *compute >= static_cast<int>(places.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("compute=", *compute, ": there are ", places.size(), " such operations"));
  }
  return Place{program.fingerprint, places[*compute]};
}

}  // namespace

absl::Status FaultAtPlace(const ControlLine& line, Worker& worker, absl::string_view fault,
                          Misfortune misfortune) {
  absl::StatusOr<int> chip = IntegerArgument(line, "chip");
  if (!chip.ok()) return chip.status();
  const std::vector<Core*> cores = worker.TensorCoresOf(*chip);
  if (cores.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("chip=", *chip, ": the worker has ", worker.options().shape.chips, " chips"));
  }
  absl::StatusOr<Place> place = FindPlace(line, worker);
  if (!place.ok()) return place.status();
  cores.front()->AddGate([&worker, &core = *cores.front(), fault, place = *place,
                          age = worker.recovery().age(), misfortune = std::move(misfortune)](
                             const Launch& launch, int operation, const std::stop_token& stop) {
    if (operation != place.operation || launch.program->fingerprint != place.fingerprint) return;
    if (worker.recovery().Over(age)) return;
    worker.AnnounceEffect(
        fault, absl::StrCat("chip=", core.id().chip, " module=", launch.program->module, " launch=",
                            launch.launch_id, " hlo=", launch.program->operations[operation].hlo));
    misfortune(core, launch, operation, stop);
  });
  return absl::OkStatus();
}

}  // namespace rapideye::testbed
