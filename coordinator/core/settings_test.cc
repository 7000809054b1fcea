#include "coordinator/core/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Setting Variable(const std::string& name, const std::string& value) {
  Setting setting;
  setting.kind = SettingKind::kEnvironment;
  setting.name = name;
  setting.value = value;
  return setting;
}

std::vector<std::string> Names(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const Setting& setting : snapshot.settings) names.push_back(setting.name);
  return names;
}

TEST(DropCommonSettingsTest, WhatDiffersOrIsMissingSomewhereStays) {
  std::vector<Snapshot> snapshots(4);
  for (int i = 0; i < 3; ++i) {
    auto& settings = snapshots[static_cast<size_t>(i)].settings;
    settings = {Variable("A", "1"), Variable("B", i == 2 ? "2" : "1")};
    if (i > 0) settings.push_back(Variable("C", "1"));
  }
  DropCommonSettings(snapshots);
  EXPECT_THAT(Names(snapshots[0]), ElementsAre("B"));
  EXPECT_THAT(Names(snapshots[1]), ElementsAre("B", "C"));
  EXPECT_THAT(Names(snapshots[2]), ElementsAre("B", "C"));
  EXPECT_THAT(snapshots[3].settings, IsEmpty());
}

TEST(DropCommonSettingsTest, OneStaysToShowThatTheyWereRead) {
  std::vector<Snapshot> snapshots(2);
  snapshots[0].settings = {Variable("A", "1"), Variable("B", "1")};
  snapshots[1].settings = {Variable("A", "1"), Variable("B", "1")};
  DropCommonSettings(snapshots);
  EXPECT_THAT(Names(snapshots[0]), ElementsAre("A"));
  EXPECT_THAT(Names(snapshots[1]), ElementsAre("A"));
}

}  // namespace
}  // namespace rapideye::coordinator
