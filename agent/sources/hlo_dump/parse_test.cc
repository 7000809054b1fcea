#include "agent/sources/hlo_dump/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string ModuleOf(absl::string_view file) {
  const std::optional<DumpName> name = ParseDumpName(file);
  return name.has_value() ? absl::StrCat(name->id, " ", name->module) : "none";
}

TEST(DumpName, OptimisedModules) {
  EXPECT_EQ(ModuleOf("module_0023.jit_train_step.after_optimizations.txt"), "23 jit_train_step");
  EXPECT_EQ(ModuleOf("module_12345.jit_f.3.after_optimizations.txt"), "12345 jit_f.3");
  EXPECT_EQ(ModuleOf("1700000000123.module_0001.jit_f.after_optimizations.txt"), "1 jit_f");
  EXPECT_EQ(ModuleOf("module_0001.jit_f.cl_505401.after_optimizations.txt"), "1 jit_f");
  EXPECT_EQ(ModuleOf("module_0001.jit_f.cpu_after_optimizations.txt"), "1 jit_f");
  EXPECT_EQ(ModuleOf("module_0001.jit_f.tpu_after_optimizations.txt"), "1 jit_f");
  EXPECT_EQ(ModuleOf("module_0001.jit_f.sm_8.0_gpu_after_optimizations.txt"), "1 jit_f");
  EXPECT_EQ(ModuleOf("module_0001.jit_cl_3.after_optimizations.txt"), "1 jit_cl_3");
  // A name that was too long.
  EXPECT_EQ(ModuleOf("module_0007.after_optimizations.txt"), "7 ");
}

TEST(DumpName, EverythingElseIsNone) {
  EXPECT_EQ(ModuleOf("module_0023.jit_f.before_optimizations.txt"), "none");
  EXPECT_EQ(ModuleOf("module_0023.jit_f.after_optimizations-buffer-assignment.txt"), "none");
  EXPECT_EQ(ModuleOf("module_0023.jit_f.after_optimizations_after_buffer_assignment.txt"), "none");
  EXPECT_EQ(ModuleOf("module_0023.jit_f.after_optimizations.hlo.pb"), "none");
  EXPECT_EQ(ModuleOf("module_0023.jit_f.hereafter_optimizations.txt"), "none");
  EXPECT_EQ(ModuleOf("module_0023.jit_f.flagfile"), "none");
  EXPECT_EQ(ModuleOf("module_x.jit_f.after_optimizations.txt"), "none");
  EXPECT_EQ(ModuleOf("module_.after_optimizations.txt"), "none");
  EXPECT_EQ(ModuleOf("module_99999999999999999999.jit_f.after_optimizations.txt"), "none");
  EXPECT_EQ(ModuleOf("after_optimizations.txt"), "none");
  EXPECT_EQ(ModuleOf(""), "none");
  EXPECT_EQ(ModuleOf("."), "none");
  EXPECT_EQ(ModuleOf(absl::StrCat("module_1.", std::string(300, 'a'), ".after_optimizations.txt")),
            "none");
}

TEST(DumpName, AModulesNameAsAFileHasIt) {
  EXPECT_TRUE(IsDumpOf({1, "jit_f_a_b_"}, "jit_f/a[b]"));
  EXPECT_FALSE(IsDumpOf({1, "jit_f_a_b_"}, "jit_f/a[b"));
  EXPECT_FALSE(IsDumpOf({1, "jit_f"}, "jit_g"));
  EXPECT_FALSE(IsDumpOf({1, ""}, ""));
}

TEST(DumpFingerprints, AreThoseOfTheModulesOwnAttributes) {
  EXPECT_THAT(
      FingerprintsIn(
          "HloModule jit_f, is_scheduled=true, "
          "frontend_attributes={fingerprint_before_lhs=\"4f0b158bd9d6b8288169C67C4314B51B\"}"
          "\n%fingerprint=\"00000000000000000000000000000000\""),
      ElementsAre("4f0b158bd9d6b8288169c67c4314b51b"));
  EXPECT_THAT(FingerprintsIn("HloModule m, fingerprint=\"abc\", fingerprint=\"not hex at all!!\""),
              IsEmpty());
  EXPECT_THAT(FingerprintsIn("HloModule m, fingerprint"), IsEmpty());
  EXPECT_THAT(FingerprintsIn("HloModule m, fingerprint=\""), IsEmpty());
  EXPECT_THAT(FingerprintsIn(""), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent
