#include "agent/sources/identity/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Identity Find(const Environment& environment, const IdentityFlags& flags = {}) {
  absl::StatusOr<Identity> identity = FindIdentity(flags, environment, "myhost");
  EXPECT_TRUE(identity.ok()) << identity.status();
  return identity.ok() ? *identity : Identity{};
}

std::string ErrorOf(const Environment& environment, const IdentityFlags& flags = {}) {
  return std::string(FindIdentity(flags, environment, "myhost").status().message());
}

TEST(IdentityTest, AMultiSliceJobOnKubernetes) {
  const Identity identity = Find({
      {"MEGASCALE_SLICE_ID", "1"},
      {"MEGASCALE_NUM_SLICES", "2"},
      {"MEGASCALE_COORDINATOR_ADDRESS", "train-workers-0-0.train:8080"},
      {"TPU_WORKER_ID", "3"},
      {"TPU_WORKER_HOSTNAMES", "a,b,c,d"},
      {"TPU_ACCELERATOR_TYPE", "v5p-32"},
      {"JOBSET_NAME", "train"},
      {"JOBSET_RESTART_ATTEMPT", "2"},
      {"NODE_NAME", "gke-node-7"},
      {"POD_NAME", "train-workers-1-3"},
      {"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
  });
  EXPECT_EQ(identity.job, "train");
  EXPECT_EQ(identity.worker, (WorkerId{1, 3}));
  EXPECT_EQ(identity.slices, 2);
  EXPECT_EQ(identity.tasks_per_slice, 4);
  EXPECT_EQ(identity.host, "myhost");
  EXPECT_EQ(identity.node, "gke-node-7");
  EXPECT_EQ(identity.pod, "train-workers-1-3");
  EXPECT_EQ(identity.generation, "v5p");
  EXPECT_EQ(identity.job_incarnation, "2");
  EXPECT_EQ(identity.coordinator, "train-workers-0-0.train:8490");
  EXPECT_EQ(identity.runtime, "localhost:8431");
  EXPECT_THAT(identity.notes, IsEmpty());
}

TEST(IdentityTest, FlagsGoFirst) {
  IdentityFlags flags;
  flags.job = "other";
  flags.slice = "0";
  flags.task = "1";
  flags.host = "h";
  flags.node = "n";
  flags.pod = "p";
  flags.hardware = "serial-1";
  flags.coordinator = "127.0.0.1:9999";
  flags.runtime = "127.0.0.1:1234";
  const Identity identity = Find(
      {
          {"MEGASCALE_SLICE_ID", "1"},
          {"TPU_WORKER_ID", "3"},
          {"JOBSET_NAME", "train"},
          {"NODE_NAME", "node"},
          {"POD_NAME", "pod"},
          {"MEGASCALE_COORDINATOR_ADDRESS", "x:1"},
          {"TPU_RUNTIME_METRICS_PORTS", "8432"},
      },
      flags);
  EXPECT_EQ(identity.job, "other");
  EXPECT_EQ(identity.worker, (WorkerId{0, 1}));
  EXPECT_EQ(identity.host, "h");
  EXPECT_EQ(identity.node, "n");
  EXPECT_EQ(identity.pod, "p");
  EXPECT_EQ(identity.hardware, "serial-1");
  EXPECT_EQ(identity.coordinator, "127.0.0.1:9999");
  EXPECT_EQ(identity.runtime, "127.0.0.1:1234");
}

TEST(IdentityTest, OrderOfTheVariables) {
  EXPECT_EQ(Find({{"TPU_WORKER_ID", "1"}, {"JOB_COMPLETION_INDEX", "2"}}).worker.task, 1);
  EXPECT_EQ(Find({{"JOB_COMPLETION_INDEX", "2"}}).worker.task, 2);
  EXPECT_EQ(Find({{"TPU_WORKER_ID", ""}, {"JOB_COMPLETION_INDEX", "2"}}).worker.task, 2);
  EXPECT_EQ(Find({{"JOBSET_NAME", "a"}, {"TPU_NAME", "b"}}).job, "a");
  EXPECT_EQ(Find({{"TPU_NAME", "b"}, {"SLURM_JOB_NAME", "c"}}).job, "b");
  EXPECT_EQ(Find({{"SLURM_JOB_NAME", "c"}, {"SLURM_JOB_ID", "17"}}).job, "c-17");
  EXPECT_EQ(Find({{"SLURM_RESTART_COUNT", "1"}}).job_incarnation, "1");
  EXPECT_EQ(Find({{"SLURMD_NODENAME", "s1"}}).node, "s1");
}

TEST(IdentityTest, LaunchersTellHowManyThereAre) {
  for (const auto& [rank, count] :
       std::vector<std::pair<std::string, std::string>>{{"JAX_PROCESS_ID", "JAX_NUM_PROCESSES"},
                                                        {"PROCESS_ID", "NUM_PROCESSES"},
                                                        {"SLURM_PROCID", "SLURM_NTASKS"},
                                                        {"SLURM_PROCID", "SLURM_NPROCS"},
                                                        {"RANK", "WORLD_SIZE"},
                                                        {"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"},
                                                        {"NODE_RANK", "NNODES"}}) {
    const Identity identity = Find({{rank, "2"}, {count, "4"}});
    EXPECT_EQ(identity.worker, (WorkerId{0, 2})) << count;
    EXPECT_EQ(identity.tasks_per_slice, 4) << count;
    EXPECT_EQ(identity.slices, 1) << count;
    // A flag names the worker; the count holds as long as it is that of the process.
    IdentityFlags flags;
    flags.task = "2";
    EXPECT_EQ(Find({{count, "4"}}, flags).tasks_per_slice, 4) << count;
    EXPECT_EQ(Find({{count, "x"}}, flags).tasks_per_slice, std::nullopt) << count;
    flags.task = "1";
    EXPECT_EQ(Find({{rank, "2"}, {count, "4"}}, flags).tasks_per_slice, std::nullopt) << count;
    flags.task = "4";
    EXPECT_EQ(Find({{count, "4"}}, flags).tasks_per_slice, std::nullopt) << count;
  }
}

TEST(IdentityTest, LaunchersCountTheTasksOfAllSlices) {
  const Environment environment = {{"MEGASCALE_NUM_SLICES", "2"},
                                   {"MEGASCALE_SLICE_ID", "1"},
                                   {"TPU_WORKER_ID", "1"},
                                   {"SLURM_PROCID", "5"},
                                   {"SLURM_NTASKS", "8"}};
  EXPECT_EQ(Find(environment).worker, (WorkerId{1, 1}));
  EXPECT_EQ(Find(environment).tasks_per_slice, 4);
  Environment hosts = environment;
  hosts["TPU_WORKER_HOSTNAMES"] = "a,b";
  EXPECT_EQ(Find(hosts).tasks_per_slice, 2);
  Environment odd = environment;
  odd["SLURM_NTASKS"] = "7";
  EXPECT_EQ(Find(odd).tasks_per_slice, std::nullopt);
}

TEST(IdentityTest, TheHostNameIsTheNodeOutsideOfPodsOnly) {
  EXPECT_EQ(Find({}).node, "myhost");
  EXPECT_EQ(Find({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}).node, std::nullopt);
}

TEST(IdentityTest, ASingleSliceFindsItsCoordinatorAtItsFirstHost) {
  const Environment environment = {{"TPU_WORKER_ID", "1"}, {"TPU_WORKER_HOSTNAMES", "a,b"}};
  EXPECT_EQ(Find(environment).coordinator, "a:8490");
  Environment two_slices = environment;
  two_slices["MEGASCALE_NUM_SLICES"] = "2";
  two_slices["MEGASCALE_SLICE_ID"] = "0";
  EXPECT_EQ(Find(two_slices).coordinator, "");
}

TEST(IdentityTest, AddressesMayHaveAPortOrNot) {
  IdentityFlags flags;
  flags.coordinator = "host";
  EXPECT_EQ(Find({}, flags).coordinator, "host:8490");
  flags.coordinator = "[::1]:17";
  EXPECT_EQ(Find({}, flags).coordinator, "[::1]:17");
  flags.coordinator = "fe80::1";
  EXPECT_EQ(Find({}, flags).coordinator, "[fe80::1]:8490");
  for (const char* bad : {"host:", "host:0", "host:65536", "host:x", ":17", "[::1"}) {
    flags.coordinator = bad;
    EXPECT_THAT(ErrorOf({}, flags), HasSubstr("--coordinator")) << bad;
  }
}

TEST(IdentityTest, SeveralProcessesOnAHostAreNoted) {
  const Identity identity =
      Find({{"TPU_RUNTIME_METRICS_PORTS", "8433, 8434"}, {"TPU_WORKER_ID", "0"}});
  EXPECT_EQ(identity.runtime, "localhost:8433");
  EXPECT_THAT(identity.notes, SizeIs(1));
  // More tasks than hosts: the hosts do not tell how many.
  EXPECT_EQ(Find({{"TPU_WORKER_ID", "5"}, {"TPU_WORKER_HOSTNAMES", "a,b"}}).tasks_per_slice,
            std::nullopt);
}

TEST(IdentityTest, AWorkerThatDoesNotKnowItsPlaceIsTold) {
  EXPECT_EQ(Find({}).worker, (WorkerId{0, 0}));
  EXPECT_THAT(Find({}).notes, SizeIs(1));
  EXPECT_THAT(ErrorOf({{"TPU_WORKER_HOSTNAMES", "a,b"}}), HasSubstr("--task"));
  EXPECT_THAT(ErrorOf({{"MEGASCALE_NUM_SLICES", "2"}, {"TPU_WORKER_ID", "0"}}),
              HasSubstr("--slice"));
}

TEST(IdentityTest, MalformedValuesAreNamed) {
  EXPECT_THAT(ErrorOf({{"TPU_WORKER_ID", "x"}}), HasSubstr("TPU_WORKER_ID: 'x'"));
  EXPECT_THAT(ErrorOf({{"TPU_WORKER_ID", "-1"}}), HasSubstr("TPU_WORKER_ID"));
  EXPECT_THAT(ErrorOf({{"TPU_WORKER_ID", "99999999999999999999"}}), HasSubstr("TPU_WORKER_ID"));
  EXPECT_THAT(ErrorOf({{"MEGASCALE_NUM_SLICES", "0"}}), HasSubstr("MEGASCALE_NUM_SLICES"));
  EXPECT_THAT(ErrorOf({{"MEGASCALE_NUM_SLICES", "2"}, {"MEGASCALE_SLICE_ID", "2"}}),
              HasSubstr("MEGASCALE_SLICE_ID"));
  EXPECT_THAT(ErrorOf({{"TPU_RUNTIME_METRICS_PORTS", "web"}}),
              HasSubstr("TPU_RUNTIME_METRICS_PORTS"));
  IdentityFlags flags;
  flags.task = "three";
  EXPECT_THAT(ErrorOf({}, flags), HasSubstr("--task: 'three'"));
}

}  // namespace
}  // namespace rapideye::agent
