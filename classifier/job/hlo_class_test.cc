#include "classifier/job/hlo_class.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::classifier {
namespace {

TEST(HloClass, InstructionsByWhatTheyWaitFor) {
  EXPECT_EQ(ClassifyHlo("all-reduce.3"), HloClass::kInSliceWait);
  EXPECT_EQ(ClassifyHlo("all-gather-done.8"), HloClass::kInSliceWait);
  EXPECT_EQ(ClassifyHlo("collective-permute-done.21"), HloClass::kInSliceWait);
  EXPECT_EQ(ClassifyHlo("all_to_all.1"), HloClass::kInSliceWait);
  EXPECT_EQ(ClassifyHlo("all-reduce-scatter-fusion.2"), HloClass::kInSliceWait);
  EXPECT_EQ(ClassifyHlo("recv-done.13"), HloClass::kCrossWait);
  EXPECT_EQ(ClassifyHlo("send-done"), HloClass::kCrossWait);
  EXPECT_EQ(ClassifyHlo("infeed.1"), HloClass::kInput);
  EXPECT_EQ(ClassifyHlo("sparse-core-done.9"), HloClass::kSparseWait);
  EXPECT_EQ(ClassifyHlo("custom-call.4"), HloClass::kKernel);
  EXPECT_EQ(ClassifyHlo("tpu_custom_call.4"), HloClass::kKernel);
  EXPECT_EQ(ClassifyHlo("fusion.212"), HloClass::kCompute);
  EXPECT_EQ(ClassifyHlo("convolution.1"), HloClass::kCompute);
}

TEST(HloClass, PrimitivesOfJax) {
  EXPECT_EQ(ClassifyHlo("psum.7"), HloClass::kMaybeWait);
  EXPECT_EQ(ClassifyHlo("pmax.1"), HloClass::kMaybeWait);
  EXPECT_EQ(ClassifyHlo("psum_invariant.3"), HloClass::kMaybeWait);
  EXPECT_EQ(ClassifyHlo("all_gather_invariant.2"), HloClass::kInSliceWait);
  EXPECT_EQ(ClassifyHlo("io_callback.18"), HloClass::kInput);
  EXPECT_EQ(ClassifyHlo("debug_print.2"), HloClass::kInput);
  EXPECT_EQ(ClassifyHlo("psumming.2"), HloClass::kCompute);
  EXPECT_EQ(ClassifyHlo("my_psum.2"), HloClass::kCompute);
}

TEST(HloClass, TheTextOfTheProgramSaysMoreThanANameCan) {
  EXPECT_EQ(ClassifyHlo(HloWaits::kInSlice), HloClass::kInSliceWait);
  EXPECT_EQ(ClassifyHlo(HloWaits::kComputeWithCollective), HloClass::kMaybeWait);
  EXPECT_EQ(ClassifyHlo(HloWaits::kOtherSlice), HloClass::kCrossWait);
  EXPECT_EQ(ClassifyHlo(HloWaits::kOwnHost), HloClass::kInput);
  EXPECT_EQ(ClassifyHlo(HloWaits::kSparseCore), HloClass::kSparseWait);
  EXPECT_EQ(ClassifyHlo(HloWaits::kKernel), HloClass::kKernel);
  EXPECT_EQ(ClassifyHlo(HloWaits::kKernelInSlice), HloClass::kMaybeWait);
  EXPECT_EQ(ClassifyHlo(HloWaits::kOwnDma), HloClass::kCompute);
  EXPECT_EQ(ClassifyHlo(HloWaits::kNothing), HloClass::kUnknown);
}

TEST(HloClass, AbsentIsUnknownNeverCompute) { EXPECT_EQ(ClassifyHlo(""), HloClass::kUnknown); }

TEST(HloClass, ANameOfAnyLengthIsRead) {
  EXPECT_EQ(ClassifyHlo("all-reduce" + std::string(1'000'000, 'x')), HloClass::kInSliceWait);
}

}  // namespace
}  // namespace rapideye::classifier
