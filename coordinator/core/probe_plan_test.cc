#include "coordinator/core/probe_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/core/limits.h"
#include "proto/v1/messages.h"

namespace rapideye::coordinator {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;

// A job after its first round. Every host has a NIC for management and two for the
// other slices.
class Scene {
 public:
  Scene(int slices, int tasks) {
    for (int slice = 0; slice < slices; ++slice) {
      for (int task = 0; task < tasks; ++task) AddWorker({slice, task});
    }
  }

  static IpAddress Address(const WorkerId& worker, int nic) {
    return FromV4({10, static_cast<uint8_t>(nic * 64 + worker.slice / 16),
                   static_cast<uint8_t>(worker.slice % 16 * 16 + worker.task / 256),
                   static_cast<uint8_t>(worker.task % 256)});
  }

  void Miss(const WorkerId& worker) { snapshots_.erase(worker); }
  // Bytes to the peer stay unacknowledged, as both ends show it.
  void Stall(const WorkerId& a, const WorkerId& b, int64_t for_ms = 5'000) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      const auto found = snapshots_.find(from);
      if (found == snapshots_.end()) continue;
      Socket socket;
      socket.peer = to;
      socket.nic = "eth1";
      socket.state = SocketState::kEstablished;
      socket.unacked_bytes = 80'000;
      socket.since_ack_ms = for_ms;
      found->second.sockets.push_back(socket);
    }
  }
  // Puts a core of the worker at a place where no other core stands.
  void StandApart(const WorkerId& worker) {
    snapshots_.at(worker).cores[0].sequencers[0].pc = 0x99;
  }

  std::vector<PlannedProbe> Plan(bool stands_still = true) const {
    return PlanProbes({.snapshots = snapshots_,
                       .expected = expected_,
                       .addresses = book_,
                       .stands_still = stands_still});
  }

 private:
  void AddWorker(const WorkerId& worker) {
    wire::Hello hello;
    hello.worker = worker;
    hello.host = absl::StrCat("host-", worker.slice, "-", worker.task);
    for (int nic = 0; nic < 3; ++nic) {
      hello.addresses.push_back({absl::StrCat("eth", nic), Address(worker, nic)});
    }
    book_.Claim(hello);
    expected_.push_back({.id = worker, .host = hello.host, .node = std::nullopt});
    Snapshot snapshot;
    snapshot.worker = worker;
    snapshot.runtime.state = RuntimeState::kServing;
    snapshot.programs = {{.module = std::nullopt, .fingerprint = "aa"}};
    Core core;
    core.chip = 0;
    core.type = CoreType::kTensorCore;
    core.program = 0;
    core.launch_id = 5;
    Sequencer sequencer;
    sequencer.type = SequencerType::kTensorCoreSequencer;
    sequencer.pc = 0x40;
    core.sequencers.push_back(sequencer);
    snapshot.cores.push_back(core);
    snapshots_[worker] = std::move(snapshot);
  }

  std::map<WorkerId, Snapshot> snapshots_;
  std::vector<ExpectedWorker> expected_;
  AddressBook book_;
};

std::set<std::pair<WorkerId, std::string>> ProbersOf(const std::vector<PlannedProbe>& plan,
                                                     const WorkerId& peer) {
  std::set<std::pair<WorkerId, std::string>> probers;
  for (const PlannedProbe& probe : plan) {
    if (probe.target.peer == peer) probers.emplace(probe.prober, probe.target.nic.value_or(""));
  }
  return probers;
}

size_t Probers(const std::vector<PlannedProbe>& plan) {
  std::set<WorkerId> probers;
  for (const PlannedProbe& probe : plan) probers.insert(probe.prober);
  return probers.size();
}

constexpr WorkerId kVictim{1, 1};

TEST(PlanProbesTest, AJobInOrderIsLeftAlone) {
  EXPECT_THAT(Scene(3, 2).Plan(/*stands_still=*/false), IsEmpty());
  Scene apart(3, 2);
  apart.StandApart(kVictim);
  EXPECT_THAT(apart.Plan(/*stands_still=*/false), IsEmpty());
  EXPECT_THAT(apart.Plan(/*stands_still=*/true), Not(IsEmpty()));
}

TEST(PlanProbesTest, OneSliceHasNoOtherToWaitFor) {
  Scene scene(1, 4);
  scene.StandApart({0, 2});
  EXPECT_THAT(scene.Plan(), IsEmpty());
}

TEST(PlanProbesTest, AMissingWorkerIsProbedByThreeOverEveryNetwork) {
  Scene scene(3, 2);
  scene.Miss(kVictim);
  const std::vector<PlannedProbe> plan = scene.Plan();
  EXPECT_EQ(ProbersOf(plan, kVictim).size(), kWitnesses * 3);
  EXPECT_THAT(plan, Contains(Field(&PlannedProbe::control, true)));
  for (const PlannedProbe& probe : plan) {
    EXPECT_NE(probe.prober, kVictim);
    EXPECT_EQ(probe.control, probe.target.peer != kVictim);
    const int nic = probe.target.nic.value().back() - '0';
    EXPECT_EQ(probe.target.address, Scene::Address(probe.target.peer, nic));
  }
}

TEST(PlanProbesTest, WhoeverMissesAWorkerIsAskedFirst) {
  Scene scene(8, 8);
  scene.Miss(kVictim);
  scene.Stall({5, 7}, kVictim);
  EXPECT_THAT(ProbersOf(scene.Plan(), kVictim), Contains(std::pair(WorkerId{5, 7}, "eth2")));
}

TEST(PlanProbesTest, ASuspectConnectionIsProbedFromBothEndsAndByBystanders) {
  Scene scene(2, 3);
  const WorkerId other{0, 1};
  scene.Stall(kVictim, other);
  const std::vector<PlannedProbe> plan = scene.Plan();
  const auto of_victim = ProbersOf(plan, kVictim);
  // The other end probes by every NIC, to tell whether one NIC alone fails; others probe
  // by the suspect NIC.
  for (const char* nic : {"eth0", "eth1", "eth2"}) {
    EXPECT_THAT(of_victim, Contains(std::pair(other, nic)));
    EXPECT_THAT(ProbersOf(plan, other), Contains(std::pair(kVictim, nic)));
  }
  EXPECT_EQ(of_victim.size(), 3 + kBystanders);
  EXPECT_EQ(std::count_if(plan.begin(), plan.end(), [](const auto& p) { return p.control; }), 1);
}

TEST(PlanProbesTest, AConnectionThatOnlyJustWaitsIsNotSuspect) {
  Scene scene(2, 3);
  scene.Stall(kVictim, {0, 1}, absl::ToInt64Milliseconds(kSuspectSilence) - 1);
  EXPECT_THAT(scene.Plan(/*stands_still=*/false), IsEmpty());
}

TEST(PlanProbesTest, WhoStandsApartIsProbedWithItsNeighboursInOtherSlices) {
  Scene scene(4, 3);
  scene.StandApart(kVictim);
  const auto probers = ProbersOf(scene.Plan(), kVictim);
  EXPECT_THAT(probers, Contains(std::pair(WorkerId{0, 1}, "eth1")));
  EXPECT_THAT(probers, Contains(std::pair(WorkerId{2, 1}, "eth1")));
}

TEST(PlanProbesTest, WhoHasGivenNoAddressIsNotProbed) {
  std::map<WorkerId, Snapshot> snapshots;
  const std::vector<ExpectedWorker> expected = {{.id = {0, 0}, .host = "a", .node = std::nullopt},
                                                {.id = {0, 1}, .host = "b", .node = std::nullopt}};
  snapshots[{0, 0}].worker = {0, 0};
  EXPECT_THAT(PlanProbes({.snapshots = snapshots, .expected = expected, .addresses = {}}),
              IsEmpty());
}

TEST(PlanProbesTest, AWorkerOnTheSameHostIsNoWitness) {
  AddressBook book;
  std::map<WorkerId, Snapshot> snapshots;
  std::vector<ExpectedWorker> expected;
  for (int task = 0; task < 4; ++task) {
    wire::Hello hello;
    hello.worker = {0, task};
    hello.host = task < 2 ? "shared" : absl::StrCat("host-", task);
    hello.addresses = {{"eth0", FromV4({10, 0, 0, static_cast<uint8_t>(task < 2 ? 1 : task)})}};
    book.Claim(hello);
    expected.push_back({.id = hello.worker, .host = hello.host, .node = std::nullopt});
    if (task > 0) snapshots[hello.worker].worker = hello.worker;
  }
  const auto plan = PlanProbes({.snapshots = snapshots, .expected = expected, .addresses = book});
  EXPECT_THAT(plan, Contains(Field(&PlannedProbe::prober, (WorkerId{0, 2}))));
  EXPECT_THAT(plan, Each(Field(&PlannedProbe::prober, Not(WorkerId{0, 1}))));
}

// The table of agent/sources/probe/README.md.
TEST(PlanProbesTest, HowMuchIsProbedDoesNotGrowWithTheJob) {
  struct Case {
    const char* what;
    void (*happen)(Scene& scene, int slices, int tasks);
  };
  const Case cases[] = {
      {"a host is missing", [](Scene& s, int, int) { s.Miss(kVictim); }},
      {"a connection", [](Scene& s, int, int) { s.Stall(kVictim, {0, 1}); }},
      {"a host's connections",
       [](Scene& s, int slices, int) {
         for (int slice = 0; slice < slices; ++slice) {
           if (slice != 1) s.Stall(kVictim, {slice, 1});
         }
       }},
      {"a slice is missing",
       [](Scene& s, int, int tasks) {
         for (int task = 0; task < tasks; ++task) s.Miss({1, task});
       }},
      {"every connection",
       [](Scene& s, int slices, int tasks) {
         for (int slice = 0; slice < slices; ++slice) {
           for (int task = 0; task < tasks; ++task)
             s.Stall({slice, task}, {(slice + 1) % slices, task});
         }
       }},
      {"hosts stand apart",
       [](Scene& s, int slices, int tasks) {
         for (int slice = 0; slice < slices; ++slice) s.StandApart({slice, slice % tasks});
       }},
  };
  for (const Case& one : cases) {
    for (const auto& [slices, tasks] :
         {std::pair(2, 4), std::pair(4, 16), std::pair(10, 100), std::pair(100, 100)}) {
      Scene scene(slices, tasks);
      one.happen(scene, slices, tasks);
      const std::vector<PlannedProbe> plan = scene.Plan();
      std::map<WorkerId, int> of_prober;
      for (const PlannedProbe& probe : plan) ++of_prober[probe.prober];
      EXPECT_THAT(plan, Not(IsEmpty()));
      EXPECT_LE(plan.size(), kMaxProbes);
      EXPECT_LE(Probers(plan), kMaxProbers);
      for (const auto& [prober, count] : of_prober)
        EXPECT_THAT(count, Le(wire::ProbeRequest::kMaxTargets));
      const std::string name = absl::StrCat(one.what, " of ", slices * tasks);
      RecordProperty(absl::StrCat("probes: ", name), static_cast<int>(plan.size()));
      std::cout << name << ": " << plan.size() << " probes of " << Probers(plan) << " workers\n";
    }
  }
}

}  // namespace
}  // namespace rapideye::coordinator
