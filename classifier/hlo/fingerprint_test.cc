#include "classifier/hlo/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace rapideye::classifier {
namespace {

// As XLA's CPU backend dumps it, shortened.
constexpr char kStep[] =
    R"(HloModule jit_train_step, is_scheduled=true, entry_computation_layout={(f32[16,8]{1,0})->f32[]}, frontend_attributes={fingerprint_before_lhs="4f0b158bd9d6b828"}, num_partitions=4

FileNames
1 "/home/me/train.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%fused_computation.3 (param_0.6: f32[16,8]) -> f32[] {
  %param_0.6 = f32[16,8]{1,0} parameter(0)
  %constant.7.clone.1 = f32[] constant(0.25)
  %broadcast.10 = f32[16,8]{1,0} broadcast(%constant.7.clone.1), dimensions={}, metadata={op_name="broadcast.1"}
  ROOT %mul.32 = f32[16,8]{1,0} multiply(%param_0.6, %broadcast.10), metadata={op_name="jit(train_step)/mul" stack_frame_id=4}
}

%add.clone (x.1: f32[], y.1: f32[]) -> f32[] {
  %x.1 = f32[] parameter(0)
  %y.1 = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%x.1, %y.1)
}

ENTRY %main.12_spmd (param: f32[16,8]) -> f32[16,8] {
  %param = f32[16,8]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}
  %fusion.3 = f32[16,8]{1,0} fusion(%param), kind=kLoop, calls=%fused_computation.3, backend_config={"outer_dimension_partitions":["8"]}
  ROOT %all-reduce.3 = f32[16,8]{1,0} all-reduce(%fusion.3), channel_id=1, replica_groups={{0,1,2,3}}, to_apply=%add.clone, metadata={op_name="jit(train_step)/psum" stack_frame_id=1}
}

)";

std::string With(const std::string& from, const std::string& to, std::string text = kStep) {
  std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(changed, text) << from;
  return changed;
}

std::string Digits(const std::string& text) {
  const std::optional<HloFingerprint> fingerprint = FingerprintHlo(text);
  return fingerprint.has_value() ? fingerprint->digits : "none";
}

// Hosts compare their fingerprints with one another, whatever version of the agent they run.
TEST(HloFingerprint, IsThatOfEveryOtherHost) {
  const std::optional<HloFingerprint> fingerprint = FingerprintHlo(kStep);
  ASSERT_TRUE(fingerprint.has_value());
  EXPECT_EQ(fingerprint->module, "jit_train_step");
  EXPECT_EQ(fingerprint->digits, "2df564254170aa07");
  EXPECT_EQ(fingerprint->devices, 4);
  EXPECT_TRUE(fingerprint->has_collective);
}

TEST(HloFingerprint, WhereAProgramLiesAndWhatItsPartsAreCalledMakesNoDifference) {
  std::string other = With("/home/me/train.py", "/srv/elsewhere/train.py");
  other = With("stack_frame_id=4", "stack_frame_id=7", other);
  other = With("fused_computation.3", "fused_computation.12", other);
  other = With("broadcast.10", "broadcast.9", other);
  other = With("main.12_spmd", "main.99_spmd", other);
  other = With("%all-reduce.3", "%psum.7", other);
  EXPECT_EQ(Digits(other), Digits(kStep));
}

// Compiled for other processors, or by another run of the autotuner.
TEST(HloFingerprint, HowABackendCarriesItOutMakesNoDifference) {
  EXPECT_EQ(Digits(With(R"(["8"])", R"(["16"],"tiling":{"m":"64"})")), Digits(kStep));
  EXPECT_EQ(Digits(With(R"(backend_config={"outer_dimension_partitions":["8"]})",
                        R"(backend_config="{\"algorithm\":\"7\"}")")),
            Digits(kStep));
  EXPECT_EQ(Digits(With("4f0b158bd9d6b828", "0000000000000000")), Digits(kStep));
}

TEST(HloFingerprint, TheOrderOfComputationsInTheTextMakesNoDifference) {
  const std::string text = kStep;
  const size_t first = text.find("%fused_computation.3 (");
  const size_t second = text.find("%add.clone (");
  const size_t entry = text.find("ENTRY");
  EXPECT_EQ(Digits(text.substr(0, first) + text.substr(second, entry - second) +
                   text.substr(first, second - first) + text.substr(entry)),
            Digits(kStep));
}

TEST(HloFingerprint, WhatTheProgramComputesMakesADifference) {
  for (const auto& [from, to] :
       {std::pair("constant(0.25)", "constant(0.5)"), std::pair("[16,8]", "[20,8]"),
        std::pair("multiply(", "subtract("), std::pair("channel_id=1", "channel_id=2"),
        std::pair("{{0,1,2,3}}", "{{0,1},{2,3}}"),
        std::pair("(%param_0.6, %broadcast.10)", "(%broadcast.10, %param_0.6)"),
        std::pair("num_partitions=4", "num_partitions=8"),
        std::pair("HloModule jit_train_step", "HloModule jit_eval")}) {
    EXPECT_NE(Digits(With(from, to)), Digits(kStep)) << from;
  }
}

// Older versions of JAX pass an address to a callback on the host; sizes are no addresses.
TEST(HloFingerprint, AnAddressOfAProcessMakesNoDifference) {
  const std::string line = "  %param = f32[16,8]{1,0} parameter(0)";
  const auto with = [&line](const std::string& value) {
    return Digits(With(line, absl::StrCat("  %address.1 = u64[] constant(", value, ")\n", line)));
  };
  EXPECT_EQ(with("94823017453232"), with("94211190128816"));
  EXPECT_NE(with("4096"), with("8192"));
  EXPECT_NE(with("94823017453232"), Digits(kStep));
}

TEST(HloFingerprint, AKernelsAttributesMayTakeSeveralLines) {
  const std::string kernel =
      "  %ring.1 = f32[16,8]{1,0} custom-call(%param), custom_call_target=\"tpu_custom_call\", "
      "frontend_attributes={kernel_metadata={\n\"mesh_axes\":\"[\\\"x\\\"]\"\n}}, "
      "metadata={op_name=\"ring\"}, backend_config={\"custom_call_config\":{\"body\":\"TUzv\"}}\n";
  const std::string line = "  %fusion.3 = ";
  const std::string text = With(line, kernel + line);
  EXPECT_NE(Digits(text), Digits(kStep));
  EXPECT_EQ(Digits(With("TUzv", "AAAA", text)), Digits(text));
  // Text behind the kernel's body counts.
  EXPECT_NE(Digits(With("channel_id=1", "channel_id=2", text)), Digits(text));
}

TEST(HloFingerprint, WhoWaitsForOthersIsToldByOpcode) {
  const auto collective = [](const std::string& text) {
    return FingerprintHlo(text).value_or(HloFingerprint()).has_collective;
  };
  const std::string none = With("all-reduce(", "copy(");
  EXPECT_FALSE(collective(none));
  EXPECT_TRUE(collective(With("all-reduce(", "all-gather-start(")));
  EXPECT_TRUE(collective(With("multiply(", "all-reduce(", none)));
  EXPECT_FALSE(
      collective(With("f32[16,8]{1,0} copy(", "(f32[2]{0:T(8,128)}, token[]) send(", none)));
  EXPECT_TRUE(collective(
      With("channel_id=1", "handler=\"xla_megascale_runtime\"", With("copy(", "send(", none))));
  EXPECT_EQ(FingerprintHlo(With(", num_partitions=4", ""))->devices, 1);
  EXPECT_EQ(FingerprintHlo(With("num_partitions=4", "replica_count=2, num_partitions=4"))->devices,
            8);
}

TEST(HloFingerprint, ATextThatIsStillBeingWrittenHasNone) {
  const std::string text = kStep;
  for (size_t size = 0; size + 4 < text.size(); ++size) {
    EXPECT_EQ(Digits(text.substr(0, size)), "none") << size;
  }
  EXPECT_EQ(Digits("BufferAssignment:\nallocation 0: size 4\n"), "none");
}

}  // namespace
}  // namespace rapideye::classifier
