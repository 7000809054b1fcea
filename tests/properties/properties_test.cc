// Tests properties that the classifier must have in any hang, on the scenario corpus.
//
// A failure names the kind and the seed. RAPIDEYE_PROPERTY_KIND and
// RAPIDEYE_PROPERTY_SEED replay one scenario, RAPIDEYE_PROPERTY_SEEDS says how many
// of each kind are tried (tests/run.sh --full tries more).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "tests/properties/changes.h"
#include "tests/properties/verdict_text.h"
#include "tests/scenarios/scenario.h"

namespace rapideye::properties {
namespace {

using scenarios::Answer;
using scenarios::Kind;
using scenarios::Scenario;
using scenarios::TrueCulprit;

constexpr uint64_t kSeedsPerKind = 200;
// Beyond the seeds that the tables of the accuracy are measured on.
constexpr uint64_t kFirstSeed = 7'000'000;
constexpr int kFailuresShown = 10;

using Workers = std::set<WorkerId>;

struct Subject {
  const Scenario& scenario;
  const Verdict& verdict;
  // Workers that the truth, or the verdict itself, names.
  Workers named;
  Random random;

  const Capture& capture() const { return scenario.capture; }
};

Workers WorkersOf(const std::vector<Culprit>& culprits) {
  Workers workers;
  for (const Culprit& culprit : culprits) workers.insert(culprit.worker);
  return workers;
}

Workers NamedBy(const Scenario& scenario, const Verdict& verdict) {
  Workers named = WorkersOf(verdict.culprits);
  for (const auto* answers : {&scenario.truth.accepted, &scenario.truth.otherwise}) {
    for (const Answer& answer : *answers) {
      for (const TrueCulprit& culprit : answer.culprits) named.insert(culprit.worker);
    }
  }
  return named;
}

// A worker that neither the truth nor the verdict names; absent: all workers are named.
std::optional<WorkerId> Bystander(Subject& subject) {
  std::vector<WorkerId> innocent;
  for (const Snapshot& snapshot : subject.capture().snapshots) {
    if (!subject.named.contains(snapshot.worker)) innocent.push_back(snapshot.worker);
  }
  if (innocent.empty()) return std::nullopt;
  std::sort(innocent.begin(), innocent.end());
  return subject.random.Pick(innocent);
}

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

std::string Named(const Scenario& scenario) {
  return absl::StrCat("RAPIDEYE_PROPERTY_KIND=", std::string(KindName(scenario.kind)),
                      " RAPIDEYE_PROPERTY_SEED=", scenario.seed);
}

bool Replaying() { return std::getenv("RAPIDEYE_PROPERTY_SEED") != nullptr; }

// The verdicts before and after a change; in full where one scenario is replayed.
std::string Both(const Verdict& before, const Verdict& after) {
  if (Replaying()) {
    return absl::StrCat("\n--- before\n", FullText(before), "--- after\n", FullText(after));
  }
  return absl::StrCat("\n    before: ", Summary(before), "\n    after:  ", Summary(after));
}

std::string Differ(const std::string& what, const std::string& before, const std::string& after) {
  if (before == after) return "";
  size_t i = 0;
  while (i < before.size() && i < after.size() && before[i] == after[i]) ++i;
  const size_t from = before.rfind('\n', i == 0 ? 0 : i - 1);
  const size_t start = from == std::string::npos ? 0 : from + 1;
  return absl::StrCat(what, "\n    before: ", before.substr(start, 400),
                      "\n    after:  ", after.substr(start, 400));
}

std::string OrderChangesNothing(Subject& subject) {
  const Verdict other = Classify(Shuffled(subject.capture(), subject.random));
  return Differ("another order, another verdict", FullText(subject.verdict), FullText(other));
}

std::string RenamedHostsRenameTheVerdict(Subject& subject) {
  const Renaming renaming = MakeRenaming(subject.capture(), subject.random);
  const Verdict other = Classify(Renamed(subject.capture(), renaming));
  return Differ("other names, another verdict", renaming.Apply(FullText(subject.verdict)),
                FullText(other));
}

// Of programs that diverged the smaller side is named (classifier/CAUSES.md). Where the sides
// are nearly equal (some workers show nothing), in the job, in a slice or in the slices that
// are torn, a worker less decides which side is the smaller.
bool TipsTheScales(const Subject& subject, const WorkerId& taken) {
  const Cause cause = subject.scenario.truth.accepted.front().cause;
  if (cause != Cause::kDifferentModule && cause != Cause::kFingerprintMismatch) return false;
  std::set<int32_t> slices_named;
  for (const WorkerId& worker : subject.named) slices_named.insert(worker.slice);
  int job = 0;
  int slice = 0;
  int torn = 0;
  for (const Snapshot& snapshot : subject.capture().snapshots) {
    const int side = subject.named.contains(snapshot.worker) ? -1 : 1;
    job += side;
    if (snapshot.worker.slice == taken.slice) slice += side;
    if (slices_named.contains(snapshot.worker.slice)) torn += side;
  }
  return job <= 4 || slice <= 1 || std::abs(torn) <= 2;
}

bool IsRight(const Scenario& scenario, const Verdict& verdict) {
  const scenarios::Grade grade = GradeVerdict(scenario.truth, verdict);
  return grade.cause && grade.culprits && !grade.unknown;
}

// Holds for a verdict that was right: the tables of the accuracy say how often a verdict is wrong.
std::string WithoutAVictimNoOtherVictimIsAccused(Subject& subject) {
  const std::optional<WorkerId> victim = Bystander(subject);
  if (!victim || !IsRight(subject.scenario, subject.verdict)) return "";
  const Verdict other = Classify(Without(subject.capture(), *victim));
  for (const Culprit& culprit : other.culprits) {
    // A worker that shows nothing can be suspected itself.
    if (subject.named.contains(culprit.worker) || culprit.worker == *victim) continue;
    if (TipsTheScales(subject, *victim)) continue;
    return absl::StrCat("without ", Name(*victim), Both(subject.verdict, other));
  }
  return "";
}

std::string NoiseAccusesNobody(Subject& subject) {
  const std::optional<WorkerId> bystander = Bystander(subject);
  if (!bystander) return "";
  const Verdict other = Classify(WithNoiseAt(subject.capture(), *bystander, subject.random));
  if (Summary(other) == Summary(subject.verdict)) return "";
  return absl::StrCat("noise at ", Name(*bystander), Both(subject.verdict, other));
}

std::string MoreThatIsWellChangesNothing(Subject& subject) {
  std::set<int32_t> unwell;
  for (const WorkerId& worker : subject.named) unwell.insert(worker.slice);
  // A host that nobody hears of is not well: it may be behind the same switch as the culprit.
  std::set<WorkerId> heard;
  for (const Snapshot& snapshot : subject.capture().snapshots) heard.insert(snapshot.worker);
  for (const ExpectedWorker& worker : subject.capture().header.expected_workers) {
    if (!heard.contains(worker.id)) unwell.insert(worker.id.slice);
  }
  std::vector<int32_t> well;
  int32_t last = 0;
  for (const ExpectedWorker& worker : subject.capture().header.expected_workers) {
    if (!unwell.contains(worker.id.slice)) well.push_back(worker.id.slice);
    last = std::max(last, worker.id.slice);
  }
  if (well.empty()) return "";
  const int32_t slice = subject.random.Pick(well);
  const Verdict other = Classify(WithSliceTwice(subject.capture(), slice, last + 1));
  if (Summary(other) == Summary(subject.verdict)) return "";
  // A verdict that was not right may become right: more healthy slices show who is not well.
  if (!IsRight(subject.scenario, subject.verdict) && IsRight(subject.scenario, other)) return "";
  return absl::StrCat("slice ", slice, " twice", Both(subject.verdict, other));
}

std::string NothingIsRemovedOnWeakEvidence(Subject& subject) {
  const Verdict& verdict = subject.verdict;
  if (verdict.removal.eligible == verdict.removal.targets.empty()) {
    return "eligible, and nothing to remove, or the other way round";
  }
  for (const RemovalTarget& target : verdict.removal.targets) {
    const auto culprit = std::find_if(verdict.culprits.begin(), verdict.culprits.end(),
                                      [&](const Culprit& c) { return c.host == target.host; });
    if (culprit == verdict.culprits.end()) return "removes who is no culprit: " + target.host;
    const bool solid = std::any_of(
        verdict.evidence.begin(), verdict.evidence.end(), [&](const EvidenceItem& item) {
          return item.strength != Strength::kWeak &&
                 std::binary_search(item.workers.begin(), item.workers.end(), culprit->worker);
        });
    if (!solid) return "removes on weak evidence: " + target.host;
  }
  return "";
}

struct Property {
  const char* name;
  std::string (*check)(Subject&);  // what is wrong, or empty
};
constexpr std::array kProperties = {
    Property{"OrderChangesNothing", OrderChangesNothing},
    Property{"RenamedHostsRenameTheVerdict", RenamedHostsRenameTheVerdict},
    Property{"WithoutAVictimNoOtherVictimIsAccused", WithoutAVictimNoOtherVictimIsAccused},
    Property{"NoiseAccusesNobody", NoiseAccusesNobody},
    Property{"MoreThatIsWellChangesNothing", MoreThatIsWellChangesNothing},
    Property{"NothingIsRemovedOnWeakEvidence", NothingIsRemovedOnWeakEvidence},
};

struct Outcome {
  int failures = 0;
  std::vector<std::string> shown;
};

class Properties : public testing::TestWithParam<size_t> {
 protected:
  // To make up a scenario takes longer than to classify it: all properties share each scenario.
  static void SetUpTestSuite() {
    const char* const only = std::getenv("RAPIDEYE_PROPERTY_KIND");
    const uint64_t first = FromEnvironment("RAPIDEYE_PROPERTY_SEED", kFirstSeed);
    const uint64_t count =
        Replaying() ? 1 : FromEnvironment("RAPIDEYE_PROPERTY_SEEDS", kSeedsPerKind);
    for (const Kind kind : scenarios::AllKinds()) {
      if (only != nullptr && KindName(kind) != only) continue;
      for (uint64_t seed = first; seed < first + count; ++seed) Try(kind, seed);
    }
  }

  static int tried;
  static std::array<Outcome, kProperties.size()> outcomes;

 private:
  static void Try(Kind kind, uint64_t seed) {
    scenarios::Options options;
    options.aborted = seed % 4 == 3;  // as often as in the mixes
    if (seed % 8 == 5) options.noise = scenarios::NoiseFree();
    const Scenario scenario = Generate(kind, seed, options);
    const Verdict verdict = Classify(scenario.capture);
    const Workers named = NamedBy(scenario, verdict);
    ++tried;
    for (size_t i = 0; i < kProperties.size(); ++i) {
      Subject subject{scenario, verdict, named, Random(seed)};
      const std::string wrong = kProperties[i].check(subject);
      if (wrong.empty()) continue;
      if (++outcomes[i].failures > kFailuresShown) continue;
      outcomes[i].shown.push_back(absl::StrCat(Named(scenario), ": ", wrong));
    }
  }
};

int Properties::tried = 0;
std::array<Outcome, kProperties.size()> Properties::outcomes;

TEST_P(Properties, HoldForEveryScenario) {
  ASSERT_GT(tried, 0) << "there is no such kind";
  const Outcome& outcome = outcomes[GetParam()];
  for (const std::string& failure : outcome.shown) ADD_FAILURE() << failure;
  EXPECT_EQ(outcome.failures, 0);
}

INSTANTIATE_TEST_SUITE_P(Classifier, Properties, testing::Range(size_t{0}, kProperties.size()),
                         [](const auto& info) { return kProperties[info.param].name; });

// A property that nothing ever tries proves nothing.
TEST(PropertiesTest, SomeScenariosRemove) {
  if (Replaying()) GTEST_SKIP() << "one scenario only";
  int removing = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + 50; ++seed) {
    for (const Kind kind : {Kind::kChipPcie, Kind::kDcnHost}) {
      removing += Classify(Generate(kind, seed, {}).capture).removal.eligible ? 1 : 0;
    }
  }
  EXPECT_GT(removing, 20);
}

}  // namespace
}  // namespace rapideye::properties
