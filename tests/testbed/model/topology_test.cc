#include "tests/testbed/model/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace rapideye::testbed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

JobShape Shape(int slices, int tasks) { return {slices, tasks, 4, {"v6e", 1, 2}}; }

TEST(Topology, RingOfOneHasNoNeighbours) {
  EXPECT_THAT(RingNeighbours(Shape(1, 4), {0, 2}), IsEmpty());
}

TEST(Topology, RingOfTwoHasOneNeighbour) {
  EXPECT_THAT(RingNeighbours(Shape(2, 4), {0, 2}), ElementsAre(WorkerId{1, 2}));
  EXPECT_THAT(RingNeighbours(Shape(2, 4), {1, 2}), ElementsAre(WorkerId{0, 2}));
}

TEST(Topology, RingClosesAtItsEnds) {
  EXPECT_THAT(RingNeighbours(Shape(4, 1), {0, 0}), ElementsAre(WorkerId{3, 0}, WorkerId{1, 0}));
  EXPECT_THAT(RingNeighbours(Shape(4, 1), {3, 0}), ElementsAre(WorkerId{2, 0}, WorkerId{0, 0}));
}

TEST(Topology, BeingAPeerIsMutual) {
  for (int slices : {1, 2, 3, 5}) {
    const JobShape shape = Shape(slices, 3);
    for (WorkerId a : AllWorkers(shape)) {
      for (WorkerId b : Peers(shape, a)) {
        const std::vector<WorkerId> back = Peers(shape, b);
        EXPECT_NE(a, b);
        EXPECT_EQ(std::count(back.begin(), back.end(), a), 1);
      }
    }
  }
}

TEST(Topology, WorkersAreNumberedThroughTheJobByTheirOrder) {
  const JobShape shape = Shape(3, 4);
  int number = 0;
  for (WorkerId worker : AllWorkers(shape)) EXPECT_EQ(WorkerNumber(shape, worker), number++);
  EXPECT_EQ(number, shape.workers());
}

TEST(Topology, EveryMachineHasOneWorkerHoweverOftenTheyMove) {
  for (int moves : {0, 1, 5, 12, 100}) {
    JobShape shape = Shape(3, 4);
    shape.moves = moves;
    std::set<WorkerId> machines;
    for (WorkerId worker : AllWorkers(shape)) {
      const WorkerId machine = MachineOf(shape, worker);
      EXPECT_EQ(WorkerOn(shape, machine), worker);
      EXPECT_TRUE(machines.insert(machine).second);
    }
  }
}

TEST(Topology, AMachineStandsAtAnotherPlaceAfterEachMove) {
  JobShape shape = Shape(2, 2);
  const WorkerId machine{1, 0};
  EXPECT_EQ(WorkerOn(shape, machine), machine);
  EXPECT_EQ(HostOf(shape, machine), HostName(machine));
  std::set<WorkerId> places;
  for (; shape.moves < shape.workers(); ++shape.moves) {
    const WorkerId worker = WorkerOn(shape, machine);
    EXPECT_TRUE(places.insert(worker).second);
    EXPECT_EQ(HostOf(shape, worker), HostName(machine));
  }
  EXPECT_EQ(WorkerOn(shape, machine), machine);  // once round
}

TEST(Topology, AddressNamesTheWorker) { EXPECT_EQ(WorkerAddress({3, 7}), "127.77.3.7"); }

TEST(Topology, ChecksRanges) {
  EXPECT_TRUE(CheckShape(Shape(kMaxSlices, kMaxTasks)).ok());
  EXPECT_THAT(CheckShape(Shape(0, 1)).ToString(), HasSubstr("slices: 0"));
  EXPECT_THAT(CheckShape(Shape(1, kMaxTasks + 1)).ToString(), HasSubstr("tasks: 65"));
}

TEST(Topology, KnowsGenerations) {
  EXPECT_EQ(FindGeneration("v5p")->tensor_cores, 2);
  EXPECT_THAT(FindGeneration("v3").status().ToString(), HasSubstr("give one of v4, v5e"));
}

}  // namespace
}  // namespace rapideye::testbed
