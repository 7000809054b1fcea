#include "coordinator/removal/tenant_machines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(TenantMachinesTest, ALineIsAMachineOfARole) {
  const auto machines = ParseTenantMachines(
      "# written by the platform\n\n"
      "tenant_a  tpu-0-1 gke-a-1\t4711 # rack 7\r\n"
      "tenant_b gke-b-*");
  ASSERT_TRUE(machines.ok()) << machines.status();
  ASSERT_THAT(*machines, SizeIs(2));
  EXPECT_EQ(machines->front().role, "tenant_a");
  EXPECT_THAT(machines->front().names, ElementsAre("tpu-0-1", "gke-a-1", "4711"));
  EXPECT_THAT(machines->back().names, ElementsAre("gke-b-*"));
}

TEST(TenantMachinesTest, ARoleWithoutMachinesIsAMistake) {
  const auto machines = ParseTenantMachines("a b\n\ntenant_a # nothing\n");
  EXPECT_EQ(machines.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(machines.status().ToString(), HasSubstr("line 3"));
}

TEST(TenantMachinesTest, AMistakeIsNamedByFileAndLine) {
  const std::string path = ::testing::TempDir() + "tenant_mistake_" + std::to_string(getpid());
  std::ofstream(path) << "tenant_a\n";
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_THAT(ReadTenantMachines(path).status().ToString(),
              HasSubstr("--tenant-machines: " + path + ": line 1"));
  unlink(path.c_str());
}

TEST(TenantMachinesTest, WhatOthersMayWriteIsNotRead) {
  const std::string path = ::testing::TempDir() + "tenant_machines_" + std::to_string(getpid());
  std::ofstream(path) << "tenant_a own\n";
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  const auto machines = ReadTenantMachines(path);
  ASSERT_TRUE(machines.ok()) << machines.status();
  EXPECT_THAT(*machines, SizeIs(1));
  for (const mode_t mode : {0660, 0642}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(ReadTenantMachines(path).status().code(), absl::StatusCode::kPermissionDenied);
  }
  if (geteuid() == 0) {
    ASSERT_EQ(chmod(path.c_str(), 0640), 0);
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    EXPECT_THAT(ReadTenantMachines(path).status().ToString(), HasSubstr("another user"));
  }
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(ReadTenantMachines(path).status().code(), absl::StatusCode::kNotFound);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(ReadTenantMachines(path).status().ToString(), HasSubstr("no regular file"));
  unlink(path.c_str());
}

}  // namespace
}  // namespace rapideye::coordinator
