// The chain behind a verdict, for each kind of cause: groups, heads, edges, bounds, order.
#include "classifier/decision/chain_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "classifier/wording/wording.h"
#include "tests/support/scenario.h"

namespace rapideye {
namespace {

using classifier::testing::kCollective;
using classifier::testing::kCompute;
using classifier::testing::kStep;
using classifier::testing::kTransfer;
using classifier::testing::Scenario;

// "0: 16 COLLECTIVE all-reduce.3, 4 workers", "1 -> 0 TRANSFER", the head marked with '*'.
std::string Told(const WaitChain& chain) {
  std::string text;
  for (size_t i = 0; i < chain.groups.size(); ++i) {
    const ChainGroup& group = chain.groups[i];
    absl::StrAppend(&text, i, group.head ? "*" : "", ": ", group.cores, " ",
                    std::string(WaitKindName(group.wait)));
    if (group.instruction) absl::StrAppend(&text, " ", *group.instruction);
    if (group.host_place) absl::StrAppend(&text, " (", *group.host_place, ")");
    absl::StrAppend(&text, ", ", group.workers.size(), " workers\n");
  }
  for (const ChainEdge& edge : chain.edges) {
    absl::StrAppend(&text, edge.from, " -> ", edge.to, " ",
                    std::string(WaitEdgeKindName(edge.kind)), "\n");
  }
  return text;
}

std::string ChainOf(const Scenario& s) { return Told(Classify(s.capture).chain); }

TEST(WaitChain, AChipIsWaitedForByItsSliceAndThatByTheOthers) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  const WaitChain chain = Classify(s.capture).chain;
  EXPECT_EQ(Told(chain),
            "0: 16 TRANSFER recv-done.7, 4 workers\n"
            "1: 15 COLLECTIVE all-reduce.3, 4 workers\n"
            "2*: 1 COMPUTE fusion.12, 1 workers\n"
            "0 -> 1 TRANSFER\n"
            "1 -> 2 COLLECTIVE\n");
  ASSERT_EQ(chain.groups.size(), 3u);
  const ChainGroup& head = chain.groups.back();
  EXPECT_EQ(head.workers, (std::vector<WorkerId>{{0, 1}}));
  EXPECT_EQ(head.chip, 2);
  EXPECT_EQ(head.core_type, CoreType::kTensorCore);
  EXPECT_EQ(head.module, "jit_step");
  EXPECT_EQ(head.launch_id, kStep);
  EXPECT_EQ(head.pc, kCompute.pc);
  EXPECT_TRUE(head.since_ms.has_value());
  EXPECT_FALSE(chain.groups.front().chip.has_value());
}

TEST(WaitChain, ACoreWhosePcMovesLoops) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Classify(s.capture).chain.groups.back().loops_ms, std::nullopt);
  Core& core = s.Tensor(0, 1, 2);
  core.sequencers[0].frozen_ms = 0;
  const WaitChain chain = Classify(s.capture).chain;
  ASSERT_EQ(chain.groups.size(), 3u);
  EXPECT_EQ(chain.groups.back().loops_ms, core.stuck_ms);
  EXPECT_EQ(WaitText(chain.groups.back()), "loops: its pc moves, but no launch completes");
}

TEST(WaitChain, SlicesThatStandAlikeAreOneGroup) {
  Scenario s({.slices = 4});
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(ChainOf(s),
            "0: 48 TRANSFER recv-done.7, 12 workers\n"
            "1: 15 COLLECTIVE all-reduce.3, 4 workers\n"
            "2*: 1 COMPUTE fusion.12, 1 workers\n"
            "0 -> 1 TRANSFER\n"
            "1 -> 2 COLLECTIVE\n");
}

TEST(WaitChain, ALinkIsTwoBoxesAndABrokenEdge) {
  Scenario s({.slices = 2});
  s.PutHost(0, 1, 0, kStep, kTransfer);
  s.PutSlice(1, 0, kStep, kCollective);
  s.PutHost(1, 1, 0, kStep, kTransfer);
  s.ProbeAll();
  s.FailProbes({0, 1}, {1, 1});
  EXPECT_EQ(ChainOf(s),
            "0: 24 COLLECTIVE all-reduce.3, 6 workers\n"
            "1*: 4 TRANSFER recv-done.7, 1 workers\n"
            "2*: 4 TRANSFER recv-done.7, 1 workers\n"
            "0 -> 1 COLLECTIVE\n"
            "0 -> 2 COLLECTIVE\n"
            "1 -> 2 BROKEN_LINK\n");
}

TEST(WaitChain, AHostWithoutNetworkIsAFan) {
  Scenario s({.slices = 3});
  for (int slice = 1; slice < 3; ++slice) s.PutSlice(slice, 0, kStep, kCollective);
  for (int slice = 0; slice < 3; ++slice) s.PutHost(slice, 1, 0, kStep, kTransfer);
  s.ProbeAll();
  for (int slice = 1; slice < 3; ++slice) s.FailProbes({0, 1}, {slice, 1});
  for (int task : {0, 2}) s.FailProbes({0, 1}, {0, task});
  EXPECT_EQ(ChainOf(s),
            "0: 28 COLLECTIVE all-reduce.3, 7 workers\n"
            "1: 4 COLLECTIVE all-reduce.3, 1 workers\n"
            "2: 4 COLLECTIVE all-reduce.3, 1 workers\n"
            "3: 4 TRANSFER recv-done.7, 1 workers\n"
            "4: 4 TRANSFER recv-done.7, 1 workers\n"
            "5*: 4 TRANSFER recv-done.7, 1 workers\n"
            "0 -> 3 COLLECTIVE\n"
            "0 -> 4 COLLECTIVE\n"
            "0 -> 5 COLLECTIVE\n"
            "1 -> 5 BROKEN_LINK\n"
            "2 -> 5 BROKEN_LINK\n"
            "3 -> 5 BROKEN_LINK\n"
            "4 -> 5 BROKEN_LINK\n");
}

TEST(WaitChain, DivergedProgramsAreTwoSides) {
  Scenario s;
  s.RunOther(0, 1, "jit_eval", "eeee");
  EXPECT_EQ(ChainOf(s),
            "0: 28 MIXED, 7 workers\n"
            "1*: 4 MIXED, 1 workers\n"
            "0 -> 1 DIVERGENCE\n");
}

TEST(WaitChain, AHostThatQueuesNothingIsWhatItsSliceLacks) {
  Scenario s;
  s.MakeIdle(0, 1);
  EXPECT_EQ(ChainOf(s),
            "0: 16 TRANSFER recv-done.7, 4 workers\n"
            "1: 12 COLLECTIVE all-reduce.3, 3 workers\n"
            "2*: 4 IDLE, 1 workers\n"
            "0 -> 1 TRANSFER\n"
            "1 -> 2 LAUNCH\n");
}

TEST(WaitChain, WhoEndedIsTheHead) {
  Scenario s;
  s.Exit(0, 1, 70'000, 1);
  EXPECT_EQ(ChainOf(s),
            "0: 16 TRANSFER recv-done.7, 4 workers\n"
            "1: 12 COLLECTIVE all-reduce.3, 3 workers\n"
            "2*: 4 ENDED, 1 workers\n"
            "0 -> 1 TRANSFER\n"
            "1 -> 2 COLLECTIVE\n");
}

TEST(WaitChain, WhoIsMissingIsTheHead) {
  Scenario s;
  s.ProbeAll();
  s.Remove(0, 1);
  EXPECT_EQ(ChainOf(s),
            "0: 16 TRANSFER recv-done.7, 4 workers\n"
            "1: 12 COLLECTIVE all-reduce.3, 3 workers\n"
            "2*: 0 SILENT, 1 workers\n"
            "0 -> 1 TRANSFER\n"
            "1 -> 2 COLLECTIVE\n");
}

TEST(WaitChain, AnUnknownCauseHasPlacesAlone) {
  Scenario s;
  EXPECT_EQ(ChainOf(s),
            "0: 16 COLLECTIVE all-reduce.3, 4 workers\n"
            "1: 16 TRANSFER recv-done.7, 4 workers\n");
}

TEST(WaitChain, AJobThatRunsHasNoHead) {
  Scenario s;
  s.StandFor(1000, 100);
  EXPECT_EQ(ChainOf(s), "0: 32 RUNNING, 8 workers\n");
}

TEST(WaitChain, ASparseCoreIsWaitedForByItsTensorCore) {
  Scenario s({.slices = 1, .sparse_cores = 1});
  for (int task = 0; task < 4; ++task) {
    for (int chip = 0; chip < 4; ++chip) {
      s.Put(s.Sparse(0, task, chip), 0, kStep, {4, 0x300, "sparse-all-to-all.2"});
    }
  }
  s.Put(s.Sparse(0, 1, 2), 0, kStep, {4, 0x280, "fusion.77"});
  EXPECT_EQ(ChainOf(s),
            "0: 15 COLLECTIVE all-reduce.3, 4 workers\n"
            "1: 1 SPARSE_CORE all-reduce.3, 1 workers\n"
            "2*: 1 COMPUTE fusion.77, 1 workers\n"
            "0 -> 1 COLLECTIVE\n"
            "1 -> 2 SPARSE_CORE\n");
}

// The largest groups remain, and the chain counts the groups left out.
TEST(WaitChain, IsBounded) {
  Scenario s({.slices = 4, .tasks = 16});
  for (int task = 0; task < 16; ++task) {
    for (int chip = 0; chip < 4; ++chip) {
      s.Put(s.Tensor(3, task, chip), 0, kStep, {2, 0x1000 + 64 * task + chip, std::nullopt});
    }
  }
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  const WaitChain chain = Classify(s.capture).chain;
  EXPECT_EQ(chain.groups.size(), kMaxChainGroups);
  int64_t cores = chain.more_cores;
  for (const ChainGroup& group : chain.groups) cores += group.cores;
  EXPECT_EQ(cores, 4 * 16 * 4);
  EXPECT_GT(chain.more_groups, 0);
  EXPECT_TRUE(chain.groups.back().head);
  for (const ChainEdge& edge : chain.edges) {
    EXPECT_LT(edge.from, chain.groups.size());
    EXPECT_LT(edge.to, chain.groups.size());
  }
}

TEST(WaitChain, OrderOfArrivalChangesNothing) {
  Scenario s({.slices = 3});
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.MakeIdle(2, 3);
  const std::string before = ChainOf(s);
  std::reverse(s.capture.snapshots.begin(), s.capture.snapshots.end());
  EXPECT_EQ(ChainOf(s), before);
}

}  // namespace
}  // namespace rapideye
