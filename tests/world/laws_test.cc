// Holds the world to its own laws: a healthy job advances, a fault stops it for good, and
// without that fault the same job goes on.
#include <cstdint>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "proto/capture/capture_writer.h"
#include "tests/world/engine.h"
#include "tests/world/kinds.h"
#include "tests/world/seeds.h"
#include "tests/world/world.h"

namespace rapideye::world {
namespace {

std::string Name(const Plan& plan) { return Describe(plan); }

// The same job, in which nothing happens.
Plan InHealth(Plan plan) {
  plan.faults.clear();
  plan.departures.clear();
  plan.absent_workers.clear();
  return plan;
}

TEST(World, SameSeedGivesSameBytes) {
  for (const Kind& kind : Kinds()) {
    const auto first = wire::WriteCapture(MakeWorld(kind.name, 7, 2).capture, {});
    const auto second = wire::WriteCapture(MakeWorld(kind.name, 7, 2).capture, {});
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(*first, *second) << kind.name;
  }
}

TEST(World, FaultStopsTheJobForGood) {
  for (const Kind& kind : Kinds()) {
    for (uint64_t seed = 0; seed < Seeds(); ++seed) {
      const Plan plan = MakePlan(kind.name, seed, 0);
      if (!plan.truth.hang) {
        continue;
      }
      Engine engine(plan);
      const double alarm = engine.RunUntilAlarm();
      EXPECT_TRUE(engine.fault_time().has_value() || !plan.departures.empty() ||
                  !plan.absent_workers.empty())
          << "nothing has happened: " << Name(plan);
      // An exit alarms at once; the chips then run what their hosts have dispatched, one stage of a
      // pipeline after another.
      const double dispatched = plan.schedule.launches_ahead * plan.schedule.step_seconds;
      const double drained = alarm + 2 * (plan.threshold + dispatched);
      engine.RunUntil(drained);
      const double stood = engine.last_progress();
      engine.RunUntil(drained + 3 * plan.threshold);
      EXPECT_EQ(engine.last_progress(), stood) << Name(plan);
    }
  }
}

TEST(World, WithoutTheFaultTheSameJobAdvances) {
  for (const Kind& kind : Kinds()) {
    for (uint64_t seed = 0; seed < Seeds(); ++seed) {
      const Plan plan = MakePlan(kind.name, seed, 0);
      const Plan healthy = InHealth(plan);
      if (!plan.truth.hang) {
        continue;
      }
      Engine broken(plan);
      broken.RunUntilAlarm();
      const double stood = broken.last_progress();
      Engine engine(healthy);
      engine.RunUntil(stood);
      while (engine.last_progress() <= stood && engine.now() < stood + plan.threshold) {
        engine.RunUntil(engine.now() + plan.schedule.step_seconds);
      }
      EXPECT_GT(engine.last_progress(), stood) << Name(plan);
    }
  }
}

// The truth accuses exactly the workers with a fault that did not follow from another fault.
TEST(World, TruthNamesWhoBroke) {
  for (const Kind& kind : Kinds()) {
    for (uint64_t seed = 0; seed < 4 * Seeds(); ++seed) {
      const Plan plan = MakePlan(kind.name, seed, 0);
      if (!plan.truth.hang) {
        continue;
      }
      std::set<int> touched = plan.absent_workers;
      for (const auto& [worker, departure] : plan.departures) {
        touched.insert(worker);
      }
      for (const Fault& fault : plan.faults) {
        touched.insert(fault.worker);
        touched.insert(fault.workers.begin(), fault.workers.end());
        if (fault.what == Happening::kPairCut) {
          touched.insert(fault.other);
        } else if (fault.what == Happening::kIciBreaks) {
          touched.insert(plan.shape.worker_of(fault.other));
        }
      }
      ASSERT_FALSE(plan.truth.accepted.empty());
      EXPECT_FALSE(plan.truth.accepted.front().culprits.empty()) << Name(plan);
      for (const Accused& accused : plan.truth.accepted.front().culprits) {
        const int worker = accused.worker.slice * plan.shape.hosts + accused.worker.task;
        EXPECT_TRUE(touched.contains(worker)) << Name(plan);
      }
    }
  }
}

TEST(World, HealthyJobNeverStandsForTheThreshold) {
  for (const Kind& kind : Kinds()) {
    for (uint64_t seed = 0; seed < Seeds(); ++seed) {
      const Plan plan = MakePlan(kind.name, seed, 0);
      if (plan.truth.hang || plan.schedule.last_step > 0) {
        continue;
      }
      Plan watched = plan;
      watched.looks_at_step.reset();
      Engine engine(watched);
      double last = 0;
      while (engine.now() < engine.started() + 20 * plan.schedule.step_seconds) {
        engine.RunUntil(engine.now() + plan.threshold);
        EXPECT_TRUE(engine.last_progress() > last ||
                    engine.now() < engine.started() + plan.threshold)
            << Name(plan) << " at " << engine.now();
        last = engine.last_progress();
      }
    }
  }
}

TEST(World, JobThatHasItsLastStepEnds) {
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    const Plan plan = MakePlan("ended", seed, 0);
    Engine engine(plan);
    engine.RunUntilAlarm();
    for (const HostState& host : engine.hosts()) {
      EXPECT_EQ(host.process, HostState::Process::kEnded) << Name(plan);
    }
  }
}

}  // namespace
}  // namespace rapideye::world
