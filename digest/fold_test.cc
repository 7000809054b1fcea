#include "digest/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rapideye::digest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(std::vector<std::string> names) {
  std::vector<std::string> texts;
  for (text::ListItem& item : FoldNames(std::move(names))) texts.push_back(std::move(item.text));
  return texts;
}

std::vector<std::string> Numbered(const std::string& prefix, int first, int last) {
  std::vector<std::string> names;
  for (int i = first; i <= last; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

TEST(FoldTest, FoldsNamesThatDifferInOneNumber) {
  EXPECT_THAT(Texts(Numbered("host-", 0, 63)), ElementsAre("host-[0-63] (64)"));
}

TEST(FoldTest, LeavesASingleNameAlone) {
  EXPECT_THAT(Texts({"host-7"}), ElementsAre("host-7"));
  EXPECT_THAT(Texts({}), IsEmpty());
}

TEST(FoldTest, ShowsGaps) {
  EXPECT_THAT(Texts({"h0", "h1", "h2", "h5", "h9", "h10"}), ElementsAre("h[0-2,5,9-10] (6)"));
}

TEST(FoldTest, KeepsLeadingZeros) {
  EXPECT_THAT(Texts({"h-08", "h-09", "h-10"}), ElementsAre("h-[08-10] (3)"));
  // "h-1" and "h-01" are two hosts.
  EXPECT_THAT(Texts({"h-1", "h-01", "h-02"}), ElementsAre("h-[01-02] (2)", "h-1"));
}

TEST(FoldTest, FoldsSlicesAndTasksOnlyIfAllCombinationsAreThere) {
  std::vector<std::string> names;
  for (int slice = 0; slice < 3; ++slice) {
    for (const std::string& name : Numbered("tpu-" + std::to_string(slice) + "-", 0, 7)) {
      names.push_back(name);
    }
  }
  EXPECT_THAT(Texts(names), ElementsAre("tpu-[0-2]-[0-7] (24)"));
  names.pop_back();
  EXPECT_THAT(Texts(names), ElementsAre("tpu-[0-1]-[0-7] (16)", "tpu-2-[0-6] (7)"));
}

TEST(FoldTest, KeepsDifferentNamesApartLargestFirst) {
  EXPECT_THAT(Texts({"b-1", "a", "c-1", "c-2"}), ElementsAre("c-[1-2] (2)", "a", "b-1"));
}

TEST(FoldTest, CountsAHostOnce) {
  EXPECT_THAT(Texts({"h1", "h1", "h2"}), ElementsAre("h[1-2] (2)"));
}

TEST(FoldTest, LeavesNamesAloneThatCouldPassForAFold) {
  EXPECT_THAT(Texts({"h[0-3] (4)", "h[0-4] (4)"}), ElementsAre("h[0-3] (4)", "h[0-4] (4)"));
}

TEST(FoldTest, ZeroPaddedHexadecimalIsANumber) {
  EXPECT_THAT(
      Texts({"gke-0000-0008", "gke-0000-0009", "gke-0000-000a", "gke-0000-000b", "gke-0000-0010"}),
      ElementsAre("gke-0000-[0008-000b,0010] (5)"));
  // Without a letter it is decimal: 0009 is followed by 0010.
  EXPECT_THAT(Texts({"gke-0009", "gke-0010"}), ElementsAre("gke-[0009-0010] (2)"));
}

TEST(FoldTest, ALetterBeforeANumberIsAName) {
  EXPECT_THAT(Texts({"rack-a9", "rack-a10", "rack-b0"}),
              ElementsAre("rack-a[9-10] (2)", "rack-b0"));
  EXPECT_THAT(Texts({"bad-1", "bad-2", "face"}), ElementsAre("bad-[1-2] (2)", "face"));
}

TEST(FoldTest, EveryNameIsInExactlyOneEntry) {
  const std::vector<std::string> names = {"x-1",         "x-a1",        "x-01",  "x-0a",  "x-a",
                                          "x1-0f",       "x1-10",       "x",     "0a",    "0b",
                                          "00-0000",     "a:0f::1",     "x-1-a", "x-",    "007-x",
                                          "x-912345678", "x-812345678", "x--1",  "8-09a", "9-09b"};
  size_t count = 0;
  for (const text::ListItem& item : FoldNames(names)) count += item.count;
  EXPECT_EQ(count, names.size());
}

TEST(FoldTest, LongDigitsAreNoNumbers) {
  EXPECT_THAT(Texts({"i-12345678901234567890", "i-12345678901234567891"}),
              ElementsAre("i-12345678901234567890", "i-12345678901234567891"));
}

TEST(FoldTest, TheOrderChangesNothing) {
  std::vector<std::string> names = Numbered("a-", 3, 40);
  const std::vector<std::string> expected = Texts(names);
  std::reverse(names.begin(), names.end());
  EXPECT_EQ(Texts(names), expected);
}

}  // namespace
}  // namespace rapideye::digest
