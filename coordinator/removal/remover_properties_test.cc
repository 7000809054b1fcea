// Properties of all that a remover has done, whatever happened to a fleet: over its real
// database, and with rows in it that no honest coordinator would write.
//
// A failure names the seed. RAPIDEYE_PROPERTY_SEED replays a seed, RAPIDEYE_PROPERTY_SEEDS gives
// ten times the number of seeds to try.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/records/fleet_clock.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/removal/remover.h"
#include "tests/fleet/incidents.h"

namespace rapideye::coordinator {
namespace {

using ::rapideye::testing::kThen;

constexpr int64_t kSeeds = 12;
constexpr absl::Duration kDay = absl::Hours(24);

struct Kind {
  const char* cause;
  const char* detail;
  bool software;  // or another cause that removes no host (classifier/CAUSES.md)
};
constexpr Kind kKinds[] = {{"BAD_TPU_CHIP", "TENSOR_CORE", false},
                           {"BAD_TPU_CHIP", "SPARSE_CORE", false},
                           {"NETWORKING_ISSUE", "DCN_HOST", false},
                           {"NETWORKING_ISSUE", "ICI_LINK", false},
                           {"NETWORKING_ISSUE", "DCN_LINK", true},
                           {"UNRECOVERABLE_ERROR", "WORKER_LOST", false},
                           {"UNRECOVERABLE_ERROR", "POWER", false},
                           {"UNRECOVERABLE_ERROR", "HOST_TO_DEVICE", false},
                           {"UNRECOVERABLE_ERROR", "CORE_HALT", true},
                           {"UNRECOVERABLE_ERROR", "PROCESS_EXIT", true},
                           {"UNRECOVERABLE_ERROR", "OUT_OF_MEMORY", true},
                           {"UNRECOVERABLE_ERROR", "PREEMPTED", true},
                           {"DIFFERENT_MODULE", "LAUNCH_ORDER", true},
                           {"FINGERPRINT_MISMATCH", "", true},
                           {"DATA_INPUT_STALL", "INPUT_PIPELINE", true},
                           {"UNKNOWN", "", true}};

bool IsSoftware(const Finding& finding) {
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) {
    return kind.software && finding.cause == kind.cause && finding.detail == kind.detail;
  });
}

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

// Runs `trial` (int64_t seed) for each seed. The variable also counts the captures of other tests,
// and a history on disk takes as long as so many captures.
constexpr int64_t kSeedsOfCaptures = 10;

template <typename Trial>
void ForEachSeed(Trial trial) {
  const int64_t only = FromEnvironment("RAPIDEYE_PROPERTY_SEED", -1);
  const int64_t asked = FromEnvironment("RAPIDEYE_PROPERTY_SEEDS", 0);
  const int64_t count = only >= 0 ? 1 : std::max(kSeeds, asked / kSeedsOfCaptures);
  for (int64_t seed = std::max<int64_t>(only, 0);
       count > 0 && seed < std::max<int64_t>(only, 0) + count; ++seed) {
    SCOPED_TRACE(absl::StrCat("RAPIDEYE_PROPERTY_SEED=", seed));
    trial(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

class Chance {
 public:
  explicit Chance(int64_t seed) : random_(static_cast<unsigned>(seed)) {}
  int64_t Pick(int64_t below) {
    return std::uniform_int_distribution<int64_t>(0, below - 1)(random_);
  }
  bool OneIn(int64_t of) { return Pick(of) == 0; }
  template <typename T>
  void Shuffle(std::vector<T>& all) {
    std::shuffle(all.begin(), all.end(), random_);
  }

 private:
  std::mt19937 random_;
};

// A culprit from a few machines, jobs and places, so that much repeats.
CulpritRecord AnyCulprit(Chance& chance) {
  const std::string name = absl::StrCat("m", chance.Pick(12));
  CulpritRecord culprit = testing::BadChip(name, chance.Pick(6));
  if (chance.OneIn(10)) culprit.hardware.reset();
  culprit.machine = MachineKey(culprit.hardware, culprit.host);
  // Direct evidence comes often enough to bring every budget to its edge.
  culprit.grounds = chance.OneIn(2) ? Grounds::kDirect : static_cast<Grounds>(chance.Pick(3));
  culprit.slice = chance.Pick(2);
  culprit.fingerprint = absl::StrCat("f", chance.Pick(3));
  return culprit;
}

IncidentRecord AnyIncident(Chance& chance, const std::string& id, absl::Time detected) {
  const Kind& kind = kKinds[chance.OneIn(2) ? 0 : chance.Pick(std::size(kKinds))];
  std::vector<CulpritRecord> culprits;
  for (int64_t i = chance.OneIn(4) ? 2 : 1; i > 0; --i) culprits.push_back(AnyCulprit(chance));
  IncidentRecord incident = testing::Incident(id, detected, std::move(culprits));
  incident.cause = kind.cause;
  incident.detail = kind.detail;
  incident.job = absl::StrCat("job", chance.Pick(2));
  incident.hosts = 200;
  return incident;
}

// A history with a remover, which is restarted now and then, and the record of its hooks.
class Fleet : public HookRunner {
 public:
  struct Removed {
    Finding finding;
    absl::Time at;
  };

  explicit Fleet(int64_t hook_fails_one_in = 0)
      : chance_(1),
        fails_one_in_(hook_fails_one_in),
        database_(OpenDatabase("sqlite::memory:").value()) {
    EXPECT_TRUE(Migrate(*database_, FleetMigrations()).ok());
    Restart();
  }

  HookResult Run(const HookCall& call) override {
    EXPECT_FALSE(history().BreakerOf(RemovalMode::kEnforce)->open);
    const auto [place, first] = removed_.try_emplace({call.finding.incident, call.finding.machine});
    if (first) place->second = {call.finding, now};
    const bool fails = fails_one_in_ > 0 && chance_.OneIn(fails_one_in_);
    return {!fails, fails ? "exited with status 1" : "exited with status 0", ""};
  }

  void Restart() {
    Remover::Settings settings;
    settings.policy.mode = RemovalMode::kEnforce;
    settings.policy.fleet_hosts = 2000;
    settings.hooks = {"/hooks/drain", "/hooks/report"};
    settings.holder = absl::StrCat("remover-", ++restarts_);
    settings.lease = absl::Minutes(2);
    settings.now = [this] { return clock ? clock() : now; };
    remover_.emplace(Remover::Make(*database_, *this, settings).value());
  }
  void Record(const IncidentRecord& incident) {
    ASSERT_TRUE(history().Record(incident, clock ? clock() : now).ok());
  }
  void Turn() {
    const auto report = remover_->Turn();
    ASSERT_TRUE(report.ok()) << report.status();
  }
  void CloseBreaker() {
    ASSERT_TRUE(history().SetBreaker(RemovalMode::kEnforce, false, "", "ada", now).ok());
  }
  History history() { return History(*database_); }
  Database& database() { return *database_; }

  // Everything that was decided, without the times.
  std::vector<std::string> Decisions() {
    std::vector<std::string> all;
    const auto rows = database_->Run(
        "SELECT incident, machine, action, rule FROM fleet_decisions ORDER BY incident, machine");
    for (const Row& row : *rows) {
      all.push_back(
          absl::StrCat(row.Text(0), " ", row.Text(1), " ", row.Text(2), " ", row.Text(3)));
    }
    return all;
  }
  std::vector<Removed> removed() const {
    std::vector<Removed> all;
    for (const auto& [key, removed] : removed_) all.push_back(removed);
    return all;
  }

  absl::Time now = kThen;             // the true time
  std::function<absl::Time()> clock;  // the history's clock, if it differs

 private:
  Chance chance_;
  const int64_t fails_one_in_;
  std::unique_ptr<Database> database_;
  std::optional<Remover> remover_;
  int restarts_ = 0;
  std::map<std::pair<std::string, std::string>, Removed> removed_;  // the first run of a hook
};

void ExpectWithinBudget(const std::vector<Fleet::Removed>& all) {
  const Policy policy;
  for (const Fleet::Removed& last : all) {
    int64_t hosts = 0;
    std::set<std::pair<std::string, int64_t>> slices;
    for (const Fleet::Removed& removed : all) {
      if (removed.at > last.at) continue;
      if (last.at - removed.at < absl::Hours(1)) ++hosts;
      if (last.at - removed.at >= kDay) continue;
      for (const int64_t slice : removed.finding.slices) slices.emplace(removed.finding.job, slice);
    }
    EXPECT_LE(hosts, policy.max_hosts_an_hour) << "within the hour before " << last.at;
    EXPECT_LE(static_cast<int64_t>(slices.size()), policy.max_slices_a_day)
        << "within the day before " << last.at;
  }
}

// Lets a fleet live on: waves of failures, quiet weeks, restarts, an operator.
template <typename EachStep>
void Live(Chance& chance, Fleet& fleet, EachStep each_step) {
  for (int i = 0; i < 60; ++i) {
    const absl::Duration late = absl::Minutes(chance.OneIn(5) ? chance.Pick(3000) : 0);
    for (int64_t wave = chance.OneIn(4) ? 4 : 1; wave > 0; --wave) {
      fleet.Record(AnyIncident(chance, absl::StrCat("i", i, "-", wave), fleet.now - late));
    }
    if (!chance.OneIn(3)) fleet.Turn();
    if (chance.OneIn(3)) fleet.CloseBreaker();
    if (chance.OneIn(10)) fleet.Restart();
    if (chance.OneIn(15)) {
      const std::string machine = MachineKey(absl::StrCat("m", chance.Pick(12)), "");
      ASSERT_TRUE(fleet.history().Forget(machine, "ada", fleet.now).ok());
    }
    each_step();
    fleet.now += absl::Minutes(chance.OneIn(12) ? chance.Pick(20'000) : chance.Pick(60));
  }
}

TEST(RemoverPropertiesTest, SoftwareNeverRemovesAndTheBudgetHolds) {
  size_t removals = 0;
  ForEachSeed([&](int64_t seed) {
    Chance chance(seed);
    Fleet fleet(/*hook_fails_one_in=*/seed % 2 == 0 ? 0 : 3);
    Live(chance, fleet, [] {});
    for (const Fleet::Removed& removed : fleet.removed()) {
      EXPECT_FALSE(IsSoftware(removed.finding)) << removed.finding.cause << removed.finding.detail;
      EXPECT_FALSE(KnownByNameOnly(removed.finding.machine));
    }
    ExpectWithinBudget(fleet.removed());
    removals += fleet.removed().size();
  });
  EXPECT_GT(removals, 0u);  // else the test would prove nothing
}

// Two fleets live through the same; one of them gets its incidents repeated or out of order.
void LiveTwice(int64_t seed, bool twice, bool out_of_order, size_t& removals) {
  Chance chance(seed);
  Chance post(seed + 1000);
  Fleet as_it_happened, as_it_came;
  int64_t next = 0;
  for (int wave = 0; wave < 15; ++wave) {
    std::vector<IncidentRecord> incidents;
    for (int64_t i = 1 + chance.Pick(6); i > 0; --i) {
      incidents.push_back(AnyIncident(chance, absl::StrCat("i", next++),
                                      as_it_happened.now - absl::Minutes(chance.Pick(300))));
    }
    std::sort(incidents.begin(), incidents.end(), [](const auto& a, const auto& b) {
      return std::tie(a.detected, a.id) < std::tie(b.detected, b.id);
    });
    for (const IncidentRecord& incident : incidents) as_it_happened.Record(incident);
    if (out_of_order) post.Shuffle(incidents);
    for (const IncidentRecord& incident : incidents) as_it_came.Record(incident);
    for (Fleet* fleet : {&as_it_happened, &as_it_came}) fleet->Turn();
    const absl::Duration pause = absl::Minutes(chance.Pick(2000));
    for (Fleet* fleet : {&as_it_happened, &as_it_came}) fleet->now += pause;
    if (twice) {
      // Some incidents come again after the decision about them, by another coordinator's clock.
      for (IncidentRecord incident : incidents) {
        if (post.OneIn(2)) continue;
        incident.detected += absl::Minutes(post.Pick(2000));
        as_it_came.Record(incident);
      }
      as_it_happened.Turn();
      as_it_came.Turn();
    }
    const bool close = chance.OneIn(3);
    for (Fleet* fleet : {&as_it_happened, &as_it_came}) {
      if (close) fleet->CloseBreaker();
    }
  }
  EXPECT_EQ(as_it_came.Decisions(), as_it_happened.Decisions());
  EXPECT_EQ(as_it_came.removed().size(), as_it_happened.removed().size());
  removals += as_it_happened.removed().size();
}

TEST(RemoverPropertiesTest, TheSameIncidentDeliveredTwiceCountsOnce) {
  size_t removals = 0;
  ForEachSeed([&](int64_t seed) { LiveTwice(seed, true, false, removals); });
  EXPECT_GT(removals, 0u);
}

TEST(RemoverPropertiesTest, TheOrderOfDeliveryDoesNotMatter) {
  size_t removals = 0;
  ForEachSeed([&](int64_t seed) { LiveTwice(seed, false, true, removals); });
  EXPECT_GT(removals, 0u);
}

// Coordinators' clocks may be wrong by any amount. The database's clock is set back and set right
// again; it counts when a remover starts, but no time before the newest row in the history does.
TEST(RemoverPropertiesTest, ClockStepsDoNotShortenAWindow) {
  size_t removals = 0;
  ForEachSeed([&](int64_t seed) {
    Chance chance(seed);
    Fleet fleet;
    const auto monotonic = [&fleet] { return fleet.now - kThen; };
    absl::Duration step;  // of the database's clock
    std::optional<FleetClock> history_clock;
    const auto start = [&] {
      const absl::Time newest = fleet.history().Newest().value();
      history_clock.emplace(fleet.now + step, newest, monotonic());
    };
    fleet.clock = [&] { return history_clock->At(monotonic()); };
    start();
    for (int i = 0; i < 60; ++i) {
      const absl::Duration wrong = absl::Hours(chance.OneIn(3) ? chance.Pick(2000) - 1000 : 0);
      fleet.Record(AnyIncident(chance, absl::StrCat("i", i), fleet.now + wrong));
      fleet.Turn();
      if (chance.OneIn(3)) step = -absl::Hours(chance.Pick(50));  // and back again
      if (chance.OneIn(4)) {
        start();
        fleet.Restart();
      }
      if (chance.OneIn(3)) fleet.CloseBreaker();
      fleet.now += absl::Minutes(chance.Pick(40));
    }
    ExpectWithinBudget(fleet.removed());
    removals += fleet.removed().size();
  });
  EXPECT_GT(removals, 0u);
}

}  // namespace
}  // namespace rapideye::coordinator
