#include "classifier/decision/hlo_evidence.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/hlo/layers.h"
#include "classifier/wording/phrases.h"
#include "proto/common/text/utf8.h"

namespace rapideye::classifier {
namespace {

bool Diverged(const Verdict& verdict) {
  return verdict.cause == Cause::kFingerprintMismatch ||
         (verdict.cause == Cause::kDifferentModule && verdict.detail == Detail::kModuleDivergence);
}

// Two of these, and the words around them, fit into one sentence of a digest.
std::string Bounded(const std::string& instruction) {
  constexpr size_t kMost = 320;
  if (instruction.size() <= kMost) return instruction;
  return absl::StrCat(std::string(text::Front(instruction, kMost)), "…");
}

// Names the sides of a comparison.
class ComparedSides {
 public:
  ComparedSides(const Capture& capture, const HloComparison& comparison)
      : capture_(capture), comparison_(comparison) {}

  const HloSide& First() const { return comparison_.sides[0]; }
  const HloSide& Second() const { return comparison_.sides[1]; }

  std::string Name(const HloSide& side) const {
    const std::vector<ExpectedWorker>& expected = capture_.header.expected_workers;
    const auto it =
        std::find_if(expected.begin(), expected.end(),
                     [&side](const ExpectedWorker& worker) { return worker.id == side.worker; });
    const std::string host = it == expected.end() ? "" : absl::StrCat(" (", Quote(it->host), ")");
    return absl::StrCat("slice ", side.worker.slice, " task ", side.worker.task, host);
  }

  std::string Both() const { return absl::StrCat(Name(First()), " and ", Name(Second())); }

  // One worker is asked for all whose cores run its program; their builds are not known.
  std::string NameAndFellows(const HloSide& side) const {
    const auto runs = [&side](const Snapshot& snapshot) {
      return snapshot.worker != side.worker && Runs(snapshot, side.fingerprint);
    };
    const auto fellows = std::count_if(capture_.snapshots.begin(), capture_.snapshots.end(), runs);
    if (fellows == 0) return Name(side);
    return absl::StrCat(Name(side), ", whose program ", fellows, " more worker",
                        fellows == 1 ? " runs" : "s run");
  }

  // A dump cannot always be assigned to a program with certainty.
  std::string Doubt() const {
    const bool latest =
        First().match == HloMatch::kLatestDump || Second().match == HloMatch::kLatestDump;
    return latest ? " (of several dumps of that module the one written last was taken)" : "";
  }

 private:
  static bool Runs(const Snapshot& snapshot, const std::string& fingerprint) {
    return std::any_of(snapshot.cores.begin(), snapshot.cores.end(), [&](const Core& core) {
      return core.program.has_value() &&
             snapshot.programs[static_cast<size_t>(*core.program)].fingerprint == fingerprint;
    });
  }

  const Capture& capture_;
  const HloComparison& comparison_;
};

class Sentences : private ComparedSides {
 public:
  Sentences(const Capture& capture, const HloComparison& comparison)
      : ComparedSides(capture, comparison), comparison_(comparison) {}

  std::string Evidence() const {
    switch (comparison_.outcome) {
      case HloOutcome::kDifferent:
        return absl::StrCat("the HLO of the two sides first differs at ", Where(), ": ",
                            What(First()), "; ", What(Second()), Doubt());
      case HloOutcome::kEqual:
        return absl::StrCat("the HLO dumps of ", Both(), " are the same, byte for byte", Doubt());
      case HloOutcome::kEqualButForNames:
        return absl::StrCat("the HLO dumps of ", Both(), " differ in names and source lines only",
                            Doubt());
      case HloOutcome::kKernelOrItsSource:
        return absl::StrCat("the HLO dumps of ", Both(),
                            " differ in the body of a kernel only: in the kernel, or in where its "
                            "source lies",
                            Doubt());
      case HloOutcome::kEqualAsFarAsRead:
        return absl::StrCat("the HLO dumps of ", Both(),
                            " are the same as far as they were read: they are too large to be "
                            "compared as a whole",
                            Doubt());
      case HloOutcome::kNotComparable:
        return absl::StrCat("the HLO of the two sides cannot be compared", Problems());
      case HloOutcome::kUnspecified:
        break;
    }
    return "";
  }

  // The builds in the names of the dumps; empty: both dumps are of one build, or a name has none.
  std::string Builds() const {
    const std::string first = HloBuildOf(First().dump.value_or(""));
    const std::string second = HloBuildOf(Second().dump.value_or(""));
    if (first.empty() || second.empty() || first == second) return "";
    return absl::StrCat("libtpu differs: build ", Quote(first), " on ", NameAndFellows(First()),
                        ", build ", Quote(second), " on ", NameAndFellows(Second()), Doubt());
  }

  std::string NextStep() const {
    switch (comparison_.outcome) {
      case HloOutcome::kDifferent:
        return absl::StrCat("Compare the HLO of ", Both(),
                            ", which is stored with the incident, from ", Where(),
                            " on: that is where they first differ.");
      case HloOutcome::kEqual:
      case HloOutcome::kEqualButForNames:
        return absl::StrCat("The optimised HLO of ", Both(),
                            " is the same: compare their libtpu versions and compiler flags "
                            "(XLA_FLAGS, LIBTPU_INIT_ARGS) rather than the program.");
      case HloOutcome::kKernelOrItsSource:
        return absl::StrCat("Compare the sources of the kernels that ", Both(),
                            " run, and their versions of the libraries that hold kernels.");
      case HloOutcome::kEqualAsFarAsRead:
        return absl::StrCat("Compare the HLO dumps of ", Both(), " to their end.");
      case HloOutcome::kNotComparable:
        return "Have XLA dump its programs (XLA_FLAGS=--xla_dump_to=DIR) and give the agents "
               "--hlo-dump-dir=DIR: the next digest then names the first instruction that differs.";
      case HloOutcome::kUnspecified:
        break;
    }
    return "";
  }

 private:
  std::string Where() const {
    const std::string first = Quote(First().computation.value_or(""));
    const std::string second = Quote(Second().computation.value_or(""));
    if (comparison_.position.value_or(0) == 0) return "the attributes of the module";
    return absl::StrCat("instruction ", *comparison_.position, " of ", first,
                        first == second ? "" : absl::StrCat(" and ", second));
  }

  std::string What(const HloSide& side) const {
    const std::string instruction = side.instruction.value_or("");
    return absl::StrCat(
        Name(side), " has ",
        instruction.empty() ? "none: the computation ends before" : Bounded(instruction));
  }

  std::string Problems() const {
    std::string text;
    for (const HloSide& side : comparison_.sides) {
      if (!side.problem.has_value()) continue;
      absl::StrAppend(&text, text.empty() ? ": " : "; ", Name(side), ": ", Quote(*side.problem));
    }
    return text;
  }

  const HloComparison& comparison_;
};

// Names the flag or the line of the program that is not the same on both sides, with the values.
std::string InputSentence(const ComparedSides& sides, const DifferingInput& input) {
  const auto value = [&](size_t i, const HloSide& side) {
    const std::string& text = input.values[i];
    return absl::StrCat(text.empty() ? "nothing" : Quote(text), " on ", sides.Name(side));
  };
  const std::string line = input.name.has_value() ? absl::StrCat(Quote(*input.name), ": ") : "";
  constexpr std::string_view kWhere = ", in the programs before the compiler has changed them";
  if (input.kind == InputKind::kProgram && input.values[0].empty() != input.values[1].empty()) {
    const size_t only = input.values[0].empty() ? 1 : 0;
    return absl::StrCat(line, "only ", sides.Name(only == 0 ? sides.First() : sides.Second()),
                        " has ", Quote(input.values[only]), std::string(kWhere), sides.Doubt());
  }
  const std::string first = value(0, sides.First());
  const std::string second = value(1, sides.Second());
  if (input.kind == InputKind::kFlag) {
    const int64_t more = input.more.value_or(0);
    return absl::StrCat("flag ", Quote(input.name.value_or("")), " is ", first, " and ", second,
                        more > 0 ? absl::StrCat(", and ", more, " more differ") : "",
                        sides.Doubt());
  }
  return absl::StrCat(line, first, " against ", second, std::string(kWhere), sides.Doubt());
}

std::string StepFor(const DifferingInput& input) {
  if (input.kind == InputKind::kFlag) {
    return absl::StrCat("Compile with the same flags everywhere (XLA_FLAGS, LIBTPU_INIT_ARGS): ",
                        Quote(input.name.value_or("")), " is not the same.");
  }
  return absl::StrCat("Look at ",
                      input.name.has_value() ? Quote(*input.name) : "the program's source",
                      ": the programs differ there before they are compiled, so the script or "
                      "its data make them different.");
}

// The first of `comparison.inputs` comes first. `one_build`: else another build may bring other
// flags of its own.
void AddInputs(const ComparedSides& sides, const HloComparison& comparison, bool one_build,
               const std::vector<WorkerId>& workers, Verdict& verdict) {
  const bool advise = verdict.cause == Cause::kFingerprintMismatch;
  for (auto it = comparison.inputs.rbegin(); it != comparison.inputs.rend(); ++it) {
    const DifferingInput& input = *it;
    if (input.values.size() != 2 || input.kind == InputKind::kUnspecified) continue;
    if (input.kind == InputKind::kFlag && !one_build) continue;
    verdict.evidence.insert(verdict.evidence.begin(),
                            {InputSentence(sides, input), Strength::kStrong, workers});
    if (!advise) continue;
    verdict.actions.insert(verdict.actions.begin(), {StepFor(input), std::nullopt});
  }
}

// The difference of a further group: what it was compiled from if that differs, else its text.
void AddFurther(const Capture& capture, const HloComparison& comparison, Verdict& verdict) {
  if (comparison.sides.size() != 2 || comparison.outcome == HloOutcome::kUnspecified) return;
  const Sentences sentences(capture, comparison);
  const ComparedSides sides(capture, comparison);
  std::string builds = sentences.Builds();
  std::string statement;
  if (!builds.empty()) {
    statement = std::move(builds);
  } else if (!comparison.inputs.empty() && comparison.inputs.front().values.size() == 2) {
    statement = InputSentence(sides, comparison.inputs.front());
  } else {
    statement = sentences.Evidence();
  }
  std::vector<WorkerId> workers = {sides.First().worker, sides.Second().worker};
  std::sort(workers.begin(), workers.end());
  verdict.evidence.push_back({std::move(statement), Strength::kStrong, std::move(workers)});
}

}  // namespace

void AddHloComparison(const Capture& capture, Verdict& verdict) {
  if (!capture.header.hlo_comparison.has_value() || !Diverged(verdict)) return;
  const HloComparison& comparison = *capture.header.hlo_comparison;
  if (comparison.sides.size() != 2) return;
  const Sentences sentences(capture, comparison);
  std::string evidence = sentences.Evidence();
  if (evidence.empty()) return;
  std::vector<WorkerId> workers = {comparison.sides[0].worker, comparison.sides[1].worker};
  std::sort(workers.begin(), workers.end());
  for (const HloComparison& more : capture.header.more_hlo_comparisons) {
    AddFurther(capture, more, verdict);
  }
  const bool seen = comparison.outcome == HloOutcome::kDifferent;
  EvidenceItem item{std::move(evidence), seen ? Strength::kDirect : Strength::kWeak, workers};
  const auto place = seen ? verdict.evidence.begin() : verdict.evidence.end();
  verdict.evidence.insert(place, std::move(item));
  RecommendedAction action{sentences.NextStep(), std::nullopt};
  if (comparison.outcome == HloOutcome::kNotComparable) {
    verdict.actions.push_back(std::move(action));
  } else {
    verdict.actions.insert(verdict.actions.begin(), std::move(action));
  }
  // Different builds may be the reason for all other differences.
  std::string builds = sentences.Builds();
  AddInputs({capture, comparison}, comparison, builds.empty(), workers, verdict);
  if (builds.empty()) return;
  verdict.evidence.insert(verdict.evidence.begin(),
                          {std::move(builds), Strength::kStrong, std::move(workers)});
  // A different module results from a different branch of the training script.
  if (verdict.cause != Cause::kFingerprintMismatch) return;
  verdict.actions.insert(verdict.actions.begin(),
                         {"Install one build of libtpu everywhere: two of them compiled the "
                          "programs that differ.",
                          std::nullopt});
}

}  // namespace rapideye::classifier
