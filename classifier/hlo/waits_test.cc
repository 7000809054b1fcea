#include "classifier/hlo/waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/support/hlo_samples.h"

namespace rapideye::classifier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Table = std::map<std::pair<std::string, std::string>, std::string>;

Table TruthOf(const std::string& program) {
  std::istringstream lines(ReadHloSample(program + ".truth.tsv"));
  Table truth;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream columns(line);
    std::string computation;
    std::string instruction;
    std::string opcode;
    std::string waits;
    columns >> computation >> instruction >> opcode >> waits;
    truth[{computation, instruction}] = waits;
  }
  return truth;
}

class Text {
 public:
  explicit Text(std::string text) : text_(std::move(text)), module_(*ParseHloModule(text_)) {}
  // A step with these instructions, and computations of which one may be called.
  static Text Of(const std::string& instructions, const std::string& computations = "") {
    return Text(absl::StrCat("HloModule m, num_partitions=4\n\n", computations,
                             computations.empty() ? "" : "\n\n",
                             "ENTRY %main (p: f32[8]) -> f32[8] {\n", instructions, "\n}\n"));
  }

  const HloModule& module() const { return module_; }
  Table Waits() const {
    HloWaitAnalysis analysis(module_);
    Table table;
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const HloComputation& computation = module_.computations[c];
      for (size_t i = 0; i < computation.instructions.size(); ++i) {
        const HloWaits waits = analysis.Of(static_cast<int>(c), static_cast<int>(i));
        if (waits == HloWaits::kUnspecified) continue;
        table[{std::string(computation.name), std::string(computation.instructions[i].name)}] =
            HloWaitsName(waits);
      }
    }
    return table;
  }
  std::string WaitsOf(const std::string& instruction) const {
    return std::string(HloWaitsName(HloWaitAnalysis(module_).OfName(instruction)));
  }
  HloPartners PartnersOf(const std::string& instruction) const {
    HloWaitAnalysis analysis(module_);
    for (size_t c = module_.computations.size(); c-- > 0;) {
      const auto& all = module_.computations[c].instructions;
      for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].name != instruction) continue;
        return analysis.PartnersOf(static_cast<int>(c), static_cast<int>(i));
      }
    }
    ADD_FAILURE() << "no " << instruction;
    return {};
  }

 private:
  const std::string text_;
  const HloModule module_;
};

class HloWaitsOfPrograms : public testing::TestWithParam<const char*> {};

TEST_P(HloWaitsOfPrograms, EveryPlaceIsWhatItsProgramSays) {
  const std::string file = GetParam();
  const std::string name = file.substr(0, file.find(".txt"));
  const Text text(ReadHloSample(file));
  EXPECT_TRUE(text.module().complete);
  const Table truth = TruthOf(name);
  const Table waits = text.Waits();
  EXPECT_FALSE(truth.empty());
  for (const auto& [place, expected] : truth) {
    const auto found = waits.find(place);
    EXPECT_EQ(found == waits.end() ? "absent" : found->second, expected)
        << place.first << " " << place.second;
  }
  for (const auto& [place, said] : waits) {
    EXPECT_TRUE(truth.contains(place)) << place.first << " " << place.second << ": " << said;
  }
}

TEST_P(HloWaitsOfPrograms, GroupsAreReadInEachForm) {
  const Text text(ReadHloSample(GetParam()));
  const HloModule& module = text.module();
  HloWaitAnalysis analysis(module);
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const auto& all = module.computations[c].instructions;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].text.find(", replica_groups=") == std::string_view::npos) continue;
      EXPECT_FALSE(analysis.PartnersOf(static_cast<int>(c), static_cast<int>(i)).groups.empty())
          << std::string(all[i].name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, HloWaitsOfPrograms,
                         testing::Values("branches-v5p.txt.gz", "callback-v6e-2-slices.txt.gz",
                                         "collectives-v4-2-slices.txt.gz", "dense-v5e.txt.gz",
                                         "embedding-v7x.txt", "fsdp-v5e.txt.gz",
                                         "host-compute-v5p.txt.gz", "iocallback-v5e.txt",
                                         "kernels-v5e.txt", "kernels-v5e-elsewhere.txt",
                                         "kernels-v5e-max.txt", "named-v5e.txt",
                                         "offload-v6e.txt.gz", "pipeline-v5e-2-slices.txt",
                                         "pipeline-v5e-3-slices.txt.gz", "ragged-moe-v6e.txt.gz"));

constexpr char kHostMemory[] = R"(  %p = f32[8]{0:S(5)} parameter(0)
  %start = (f32[8]{0}, f32[8]{0:S(5)}, u32[]) copy-start(%p)
  %done = f32[8]{0} copy-done(%start)
  %away = (f32[8]{0:S(5)}, f32[8]{0}, u32[]) copy-start(%done)
  %gone = f32[8]{0:S(5)} copy-done(%away)
  %part = f32[4]{0} dynamic-slice(%p), dynamic_slice_sizes={4}
  %own = (f32[8]{0:S(1)}, f32[8]{0}, u32[]) copy-start(%done)
  %owned = f32[8]{0:S(1)} copy-done(%own)
  %slice = ((f32[8]{0}), f32[4]{0:S(1)}, u32[]) slice-start(%done), slice={[0:4]}
  ROOT %sliced = f32[4]{0:S(1)} slice-done(%slice))";

TEST(HloWaits, MemoryOfTheHostIsTheOwnHosts) {
  const Text text = Text::Of(kHostMemory);
  for (const char* name : {"start", "done", "away", "gone", "part"}) {
    EXPECT_EQ(text.WaitsOf(name), "own-host") << name;
  }
  for (const char* name : {"own", "owned", "slice", "sliced"}) {
    EXPECT_EQ(text.WaitsOf(name), "own-dma") << name;
  }
  EXPECT_EQ(text.WaitsOf("p"), "");
}

TEST(HloWaits, InputOutputAndComputationsOfTheHost) {
  const Text text = Text::Of(R"(  %t = token[] after-all()
  %in = (f32[8]{0}, token[]) infeed(%t)
  %out = token[] outfeed(%in, %t)
  %call-start = ((f32[8]{0}), f32[8]{0}, u32[]) call-start(%p), async_execution_thread="host", to_apply=%host
  %call-done = f32[8]{0} call-done(%call-start)
  ROOT %call = f32[8]{0} call(%p), to_apply=%host, frontend_attributes={_xla_compute_type="host"})",
                             R"(%host (a: f32[8]) -> f32[8] {
  ROOT %work = f32[8]{0} negate(%a)
}, execution_thread="host")");
  for (const char* name : {"in", "out", "call-start", "call-done", "call"}) {
    EXPECT_EQ(text.WaitsOf(name), "own-host") << name;
  }
  EXPECT_EQ(text.WaitsOf("work"), "") << "no core of the device stands there";
}

TEST(HloWaits, TransfersByTheirHandler) {
  const Text text = Text::Of(R"(  %t = token[] after-all()
  %s = (f32[8]{0}, u32[], token[]) send(%p, %t), channel_id=1, is_host_transfer=true, frontend_attributes={_xla_host_transfer_handler_name="xla_megascale_runtime",_xla_host_transfer_rendezvous="psum.21_0"}
  %gte = (f32[8]{0}, u32[], token[]) get-tuple-element(%state), index=3
  %carried = token[] send-done(%gte), channel_id=1, is_host_transfer=true
  %r = (f32[8]{0}, u32[], token[]) recv(%t), channel_id=2, is_host_transfer=true, frontend_attributes={_xla_host_transfer_handler_name="tf_rendezvous"}
  %rd = (f32[8]{0}, token[]) recv-done(%r), channel_id=2, is_host_transfer=true
  %peer = (f32[8]{0}, u32[], token[]) send(%p, %t), channel_id=3
  ROOT %peered = token[] send-done(%peer), channel_id=3)");
  EXPECT_EQ(text.WaitsOf("s"), "other-slice");
  EXPECT_EQ(text.WaitsOf("carried"), "other-slice");
  EXPECT_EQ(text.WaitsOf("r"), "own-host");
  EXPECT_EQ(text.WaitsOf("rd"), "own-host");
  EXPECT_EQ(text.WaitsOf("peer"), "in-slice");
  EXPECT_EQ(text.WaitsOf("peered"), "in-slice");
  EXPECT_EQ(text.PartnersOf("carried").rendezvous, "psum.21_0");
  EXPECT_EQ(text.PartnersOf("carried").channel, 1);
}

TEST(HloWaits, AsynchronousOperationsByWhatTheyCall) {
  const Text text = Text::Of(R"(  %p = f32[8]{0} parameter(0)
  %a = ((f32[8]{0}), f32[2]{0}, u32[]) async-start(%p), calls=%scatters
  %b = ((f32[8]{0}), f32[2]{0}, u32[]) async-update(%a)
  %c = f32[2]{0} async-done(%b)
  %gte = ((f32[8]{0}), f32[2]{0}, u32[]) get-tuple-element(%p), index=1
  %carried = f32[2]{0} async-done(%gte)
  %x = ((f32[8]{0}), f32[8]{0}, u32[]) reduce-scatter-start(%p), replica_groups={{0,1,2,3}}
  %y = f32[8]{0} reduce-scatter-done(%x)
  ROOT %g = (f32[8]{0}, f32[8]{0}) all-gather-start(%p), replica_groups=[2,2]<=[4])",
                             R"(%inner (q: f32[8]) -> f32[2] {
  %q = f32[8]{0} parameter(0)
  ROOT %rs = f32[2]{0} reduce-scatter(%q), replica_groups={{0,1},{2,3}}, channel_id=7
}

%scatters (q: f32[8]) -> f32[2] {
  %q = f32[8]{0} parameter(0)
  ROOT %wrapped = f32[2]{0} call(%q), to_apply=%inner
})");
  for (const char* name : {"a", "b", "c", "carried", "x", "y", "g"}) {
    EXPECT_EQ(text.WaitsOf(name), "in-slice") << name;
  }
  EXPECT_THAT(text.PartnersOf("c").groups, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_EQ(text.PartnersOf("c").channel, 7);
  EXPECT_THAT(text.PartnersOf("y").groups, ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(text.PartnersOf("g").groups, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(HloWaits, FusionsByWhatTheyHold) {
  const Text text = Text::Of(R"(  %p = f32[8]{0} parameter(0)
  %fusion.1 = f32[2]{0} fusion(%p), kind=kCustom, calls=%reduces
  %fusion.2 = f32[2]{0} fusion(%p), kind=kOutput, calls=%both
  %all-reduce.3 = f32[8]{0} fusion(%p), kind=kLoop, calls=%adds
  %kernels = f32[8]{0} fusion(%p), kind=kCustom, calls=%kernel
  ROOT %lost = f32[8]{0} fusion(%p), kind=kLoop, calls=%nowhere)",
                             R"(%reduces (q: f32[8]) -> f32[2] {
  %q = f32[8]{0} parameter(0)
  %ar = f32[8]{0} all-reduce(%q), replica_groups={}
  %i = u32[] multiply(%q, %q)
  ROOT %part = f32[2]{0} dynamic-slice(%ar, %i), dynamic_slice_sizes={2}
}

%both (q: f32[8]) -> f32[2] {
  %q = f32[8]{0} parameter(0)
  %ag = f32[8]{0} all-gather(%q), replica_groups={{0,1}}
  ROOT %dot = f32[8]{0} dot(%q, %q)
}

%adds (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %sum = f32[8]{0} add(%q, %q)
}

%kernel (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %k = f32[8]{0} custom-call(%q), custom_call_target="tpu_custom_call", backend_config={"custom_call_config":{"body":"abc","has_communication": true}}
})");
  EXPECT_EQ(text.WaitsOf("fusion.1"), "in-slice");
  EXPECT_EQ(text.WaitsOf("fusion.2"), "compute-with-collective");
  EXPECT_EQ(text.WaitsOf("all-reduce.3"), "compute") << "a name proves nothing";
  EXPECT_EQ(text.WaitsOf("kernels"), "kernel-in-slice");
  EXPECT_EQ(text.WaitsOf("lost"), "");
  EXPECT_THAT(text.PartnersOf("fusion.1").groups, ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(text.PartnersOf("all-reduce.3").groups, IsEmpty());
}

TEST(HloWaits, WhatAnInstructionSaysByItself) {
  for (const auto& [line, waits] : std::map<std::string, HloWaits>{
           {"%psum.7 = f32[]{:T(128)} all-reduce(%a), replica_groups={}", HloWaits::kInSlice},
           {"ROOT r = (f32[8], f32[2]) reduce-scatter-start(a)", HloWaits::kInSlice},
           {"%x = f32[8] negate(%a)", HloWaits::kCompute},
           {"f32[8] infeed(%t)", HloWaits::kOwnHost},
           {"%w = (f32[8]) while(%a), body=%b", HloWaits::kCalls},
           {"%s = token[] send-done(%a), frontend_attributes={_xla_host_transfer_handler_name="
            "\"xla_megascale_runtime\"}",
            HloWaits::kOtherSlice},
           {"%k = f32[8] custom-call(%a), custom_call_target=\"AllocateBuffer\"",
            HloWaits::kNothing},
           {"%k = f32[8] custom-call(%a)", HloWaits::kUnspecified},
           {"%f = f32[8] fusion(%a), kind=kLoop, calls=%c", HloWaits::kUnspecified},
           {"%d = f32[8] async-done(%a)", HloWaits::kUnspecified},
           {"%d = f32[8] copy-done(%a)", HloWaits::kUnspecified},
           {"%s = token[] send-done(%a)", HloWaits::kUnspecified},
           {"%p = f32[8] parameter(0)", HloWaits::kUnspecified},
           {"all-reduce.3", HloWaits::kUnspecified},
           {"", HloWaits::kUnspecified}}) {
    EXPECT_EQ(HloWaitsOfLine(line), waits) << line;
  }
}

TEST(HloWaits, PairsOfAPermutation) {
  const Text text =
      Text::Of("  ROOT %c = f32[8]{0} collective-permute(%p), source_target_pairs={{0,1},{1,0}}\n");
  EXPECT_EQ(text.WaitsOf("c"), "in-slice");
  EXPECT_THAT(text.PartnersOf("c").groups, ElementsAre(ElementsAre(0, 1), ElementsAre(1, 0)));
}

TEST(HloWaits, WhatIsCalledFromLoopsAndBranchesIsReached) {
  const Text text = Text::Of(R"(  %l = f32[8]{0} while(%p), condition=%test, body=%round
  ROOT %c = f32[8]{0} conditional(%p, %p, %p), branch_computations={%one, %two})",
                             R"(%test (a: f32[8]) -> pred[] {
  ROOT %less = pred[] compare(%a, %a), direction=LT
}

%round (a: f32[8]) -> f32[8] {
  ROOT %again = f32[8]{0} call(%a), to_apply=%one
}

%one (a: f32[8]) -> f32[8] {
  ROOT %n = f32[8]{0} negate(%a)
}

%two (a: f32[8]) -> f32[8] {
  ROOT %s = f32[8]{0} all-reduce(%a), to_apply=%sum
}

%sum (a: f32[], b: f32[]) -> f32[] {
  ROOT %add = f32[] add(%a, %b)
})");
  EXPECT_EQ(text.WaitsOf("l"), "calls");
  EXPECT_EQ(text.WaitsOf("c"), "calls");
  EXPECT_EQ(text.WaitsOf("again"), "calls");
  EXPECT_EQ(text.WaitsOf("less"), "compute");
  EXPECT_EQ(text.WaitsOf("n"), "compute");
  EXPECT_EQ(text.WaitsOf("s"), "in-slice");
  EXPECT_EQ(text.WaitsOf("add"), "") << "it is run as a part of a reduction";
}

}  // namespace
}  // namespace rapideye::classifier
