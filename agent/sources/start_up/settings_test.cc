#include "agent/sources/start_up/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "agent/sources/start_up/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Environment(std::initializer_list<std::string> variables) {
  std::string text;
  for (const std::string& variable : variables)
    absl::StrAppend(&text, variable, std::string(1, '\0'));
  return text;
}

std::string Hash(absl::string_view value) { return absl::StrCat("hash", value.size()); }

Setting Only(const std::string& variable) {
  const std::vector<Setting> settings = SettingsOf(Environment({variable}), Hash);
  EXPECT_THAT(settings, SizeIs(1)) << variable;
  return settings.empty() ? Setting() : settings.front();
}

TEST(SettingsTest, OnlyThoseOfTheJobAreTold) {
  EXPECT_THAT(SettingsOf(Environment({"HOME=/root", "PATH=/bin", "WANDB_API_KEY=x"}), Hash),
              IsEmpty());
  EXPECT_EQ(Only("MEGASCALE_NUM_SLICES=4").value, "4");
  EXPECT_EQ(Only("TPU_TOPOLOGY=4x4").value, "4x4");
  EXPECT_EQ(Only("JAX_COORDINATOR_ADDRESS=10.0.0.1:8476").value, "10.0.0.1:8476");
  EXPECT_EQ(Only("JAX_ENABLE_X64=True").value, "True");
}

TEST(SettingsTest, WhatMayBeASecretIsToldByItsHash) {
  for (const char* variable :
       {"JAX_API_TOKEN=12345", "TPU_PASSWORD=true", "MEGASCALE_AUTHENTICATION=on",
        "JAX_SOMETHING_NEW=abcdef", "TPU_WORKER_HOSTNAMES=user:pass@host",
        "JAX_COMPILATION_CACHE_DIR=gs://bucket/x?sig=1", "TPU_X=123456789012345678901234"}) {
    const Setting setting = Only(variable);
    EXPECT_FALSE(setting.value.has_value()) << variable;
    EXPECT_TRUE(setting.hash.has_value()) << variable;
  }
  EXPECT_FALSE(
      Only(absl::StrCat("TPU_WORKER_HOSTNAMES=", std::string(kMaxSettingValueBytes + 1, 'h')))
          .value.has_value());
}

TEST(SettingsTest, WithoutASaltTheNameAloneIsTold) {
  const std::vector<Setting> settings = SettingsOf(Environment({"JAX_API_TOKEN=12345"}), nullptr);
  ASSERT_THAT(settings, SizeIs(1));
  EXPECT_EQ(settings[0].name, "JAX_API_TOKEN");
  EXPECT_FALSE(settings[0].value.has_value());
  EXPECT_FALSE(settings[0].hash.has_value());
}

TEST(SettingsTest, EachFlagIsASettingAndTheLaterOneCounts) {
  const std::vector<Setting> settings = SettingsOf(
      Environment({"LIBTPU_INIT_ARGS=--xla_a=1 --xla_b --xla_dir=/home/me/x --xla_a=2"}), Hash);
  ASSERT_THAT(settings, SizeIs(3));
  EXPECT_EQ(settings[0].name, "LIBTPU_INIT_ARGS:--xla_a");
  EXPECT_EQ(settings[0].value, "2");
  EXPECT_EQ(settings[0].kind, SettingKind::kFlag);
  EXPECT_EQ(settings[1].value, "true");
  EXPECT_FALSE(settings[2].value.has_value());
  EXPECT_TRUE(settings[2].hash.has_value());
  // The name of a file of flags.
  EXPECT_EQ(Only("XLA_FLAGS=/etc/flags").kind, SettingKind::kEnvironment);
}

TEST(SettingsTest, AFloodIsCut) {
  std::string text;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&text, "TPU_", i, "=1", std::string(1, '\0'));
  absl::StrAppend(&text, "TPU_", std::string(1000, 'x'), "=1");
  EXPECT_THAT(SettingsOf(text, Hash), SizeIs(kMaxSettings));
}

TEST(PortsTest, FromTheEnvironment) {
  EXPECT_EQ(CoordinationPort(""), kCoordinationPort);
  EXPECT_EQ(CoordinationPort(Environment({"JAX_COORDINATOR_ADDRESS=host:1234"})), 1234);
  EXPECT_EQ(CoordinationPort(Environment({"JAX_COORDINATOR_ADDRESS=host"})), kCoordinationPort);
  EXPECT_THAT(OwnPorts(Environment({"TPU_PROCESS_PORT=8471", "JAX_PROCESS_ID=1",
                                    "JAX_COORDINATOR_ADDRESS=host:1234"})),
              ElementsAre(8471));
  EXPECT_THAT(OwnPorts(Environment({"JAX_PROCESS_ID=0", "JAX_COORDINATOR_ADDRESS=host:1234"})),
              ElementsAre(1234));
}

TEST(VersionsTest, ByTheNamesOfFolders) {
  EXPECT_THAT(PackageFolders("7f00-7f01 r-xp 00 08:01 1 /usr/lib/libc.so\n"
                             "7f02-7f03 r-xp 00 08:01 2 "
                             "/opt/v/lib/python3.11/site-packages/jaxlib/xla_extension.so\n"
                             "7f04-7f05 rw-p 00 00:00 0\n"),
              ElementsAre("/opt/v/lib/python3.11/site-packages"));
  const auto version = PackageVersion("jaxlib-0.4.35.dist-info");
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(version->name, "jaxlib");
  EXPECT_EQ(version->value, "0.4.35");
  EXPECT_EQ(version->kind, SettingKind::kVersion);
  for (const char* none : {"jaxlib", "numpy-1.0.dist-info", "jaxlib-.dist-info", ".dist-info"}) {
    EXPECT_FALSE(PackageVersion(none).has_value()) << none;
  }
}

}  // namespace
}  // namespace rapideye::agent
