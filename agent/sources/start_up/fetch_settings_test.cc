#include "agent/sources/start_up/fetch_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "agent/sources/start_up/limits.h"

namespace rapideye::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::SizeIs;

TEST(SaltedHashTest, EqualValuesCompareEqualWithOneSaltAlone) {
  const SettingHash one = SaltedHash("0011");
  const SettingHash other = SaltedHash("0012");
  EXPECT_EQ(one("secret"), one("secret"));
  EXPECT_NE(one("secret"), one("secret2"));
  EXPECT_NE(one("secret"), other("secret"));
  EXPECT_THAT(one("secret"), SizeIs(kSettingHashDigits));
  EXPECT_FALSE(SaltedHash(""));
}

TEST(ReadSettingsTest, OfThisProcess) {
  const auto settings = ReadSettings("/proc", getpid(), SaltedHash("00"));
  EXPECT_TRUE(settings.has_value());
}

TEST(ReadSettingsTest, EnvironmentAndVersionsOfAMadeUpProcess) {
  const std::string proc = testing::TempDir() + absl::StrCat("settings-", getpid());
  const std::string packages = proc + "/20/root/v/site-packages";
  fs::create_directories(packages + "/jax-0.4.35.dist-info");
  fs::create_directories(packages + "/numpy-2.0.dist-info");
  std::ofstream(proc + "/20/environ") << "TPU_TOPOLOGY=2x2" << '\0' << "HOME=/root" << '\0';
  std::ofstream(proc + "/20/maps") << "1-2 r-xp 0 08:01 1 /v/site-packages/jaxlib/x.so\n";
  const auto settings = ReadSettings(proc, 20, nullptr);
  ASSERT_TRUE(settings.has_value());
  ASSERT_THAT(*settings, SizeIs(2));
  EXPECT_EQ((*settings)[0].value, "2x2");
  EXPECT_EQ((*settings)[1].name, "jax");
  EXPECT_EQ((*settings)[1].value, "0.4.35");
  EXPECT_FALSE(ReadSettings(proc, 21, nullptr).has_value());
  fs::remove_all(proc);
}

}  // namespace
}  // namespace rapideye::agent
