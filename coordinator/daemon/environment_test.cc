#include "coordinator/daemon/environment.h"

#include <gtest/gtest.h>

#include <map>

namespace rapideye::coordinator {
namespace {

ReadVariable Variables(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Environment, TellsTheJobAndItsShape) {
  const JobShape shape = WithEnvironment({}, Variables({{"JOBSET_NAME", "llama"},
                                                        {"MEGASCALE_NUM_SLICES", "4"},
                                                        {"TPU_WORKER_HOSTNAMES", "a,b,c"}}));
  EXPECT_EQ(shape.job, "llama");
  EXPECT_EQ(shape.slices, 4);
  EXPECT_EQ(shape.tasks_per_slice, 3);
}

TEST(Environment, FlagsComeFirst) {
  const JobShape shape = WithEnvironment({.job = "mine", .slices = 2, .tasks_per_slice = 8},
                                         Variables({{"JOBSET_NAME", "llama"},
                                                    {"MEGASCALE_NUM_SLICES", "4"},
                                                    {"TPU_WORKER_HOSTNAMES", "a,b,c"}}));
  EXPECT_EQ(shape.job, "mine");
  EXPECT_EQ(shape.slices, 2);
  EXPECT_EQ(shape.tasks_per_slice, 8);
}

TEST(Environment, SlurmJobsAreNamedWithTheirNumber) {
  EXPECT_EQ(
      WithEnvironment({}, Variables({{"SLURM_JOB_NAME", "train"}, {"SLURM_JOB_ID", "77"}})).job,
      "train-77");
  EXPECT_EQ(WithEnvironment({}, Variables({{"SLURM_JOB_NAME", "train"}})).job, "");
}

TEST(Environment, WhatIsNotSetOrMakesNoSenseIsLeftOpen) {
  const JobShape shape = WithEnvironment(
      {}, Variables({{"MEGASCALE_NUM_SLICES", "-1"}, {"TPU_WORKER_HOSTNAMES", ""}}));
  EXPECT_EQ(shape.job, "");
  EXPECT_FALSE(shape.slices.has_value());
  EXPECT_FALSE(shape.tasks_per_slice.has_value());
}

}  // namespace
}  // namespace rapideye::coordinator
