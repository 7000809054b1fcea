#include "agent/core/module_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "agent/sources/hlo_dump/limits.h"
#include "tests/support/sample_builder.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ModuleTextsTest : public testing::Test {
 protected:
  ModuleTextsTest() {
    modules_.Learn(*Serving({WithHlo(Running(0, "bb", 1, 5), "copy.1", "jit_known")}).sample);
  }

  void Ask(ModuleTexts& texts, int64_t collection, std::optional<std::string> module = "jit_f",
           const std::string& fingerprint = "aa") {
    texts.Request({collection, std::move(module), fingerprint, absl::Seconds(5)}, modules_, now_,
                  effects_);
  }

  template <typename T>
  std::vector<T> Taken() const {
    std::vector<T> found;
    for (const Effect& effect : effects_) {
      if (const auto* one = std::get_if<T>(&effect)) found.push_back(*one);
    }
    return found;
  }

  std::vector<wire::ModuleTextReply> Replies() const {
    std::vector<wire::ModuleTextReply> found;
    for (const Send& send : Taken<Send>()) {
      found.push_back(std::get<wire::ModuleTextReply>(send.message));
    }
    return found;
  }

  static ModuleTextFetched Read(int64_t fetch) {
    return {fetch, wire::ModuleText{"module_1.jit_f.txt", HloMatch::kOnlyDump, "gzip", false}, ""};
  }

  ModuleNames modules_;
  absl::Duration now_ = absl::Hours(1);
  Effects effects_;
};

TEST_F(ModuleTextsTest, WhatIsReadIsSent) {
  ModuleTexts texts(true);
  Ask(texts, 7);
  const auto fetches = Taken<FetchModuleText>();
  ASSERT_THAT(fetches, SizeIs(1));
  EXPECT_EQ(fetches[0].module, "jit_f");
  EXPECT_EQ(fetches[0].fingerprint, "aa");
  EXPECT_LT(fetches[0].deadline, absl::Seconds(5));
  texts.Fetched(Read(fetches[0].fetch), effects_);
  ASSERT_THAT(Replies(), SizeIs(1));
  EXPECT_EQ(Replies()[0].collection, 7);
  EXPECT_EQ(Replies()[0].text->dump, "module_1.jit_f.txt");
  // The request has been answered: a second text for it is dropped.
  texts.Fetched(Read(fetches[0].fetch), effects_);
  EXPECT_THAT(Replies(), SizeIs(1));
  EXPECT_EQ(texts.NextWake(), absl::InfiniteDuration());
}

TEST_F(ModuleTextsTest, AModuleThatTheCoordinatorCannotNameMayBeKnownHere) {
  ModuleTexts texts(true);
  Ask(texts, 7, std::nullopt, "bb");
  EXPECT_EQ(Taken<FetchModuleText>()[0].module, "jit_known");
  now_ += kModuleTextSpacing;
  Ask(texts, 8, std::nullopt, "cc");
  EXPECT_EQ(Taken<FetchModuleText>()[1].module, std::nullopt);
}

TEST_F(ModuleTextsTest, WithoutADirectoryTheAnswerSaysSo) {
  ModuleTexts texts(false);
  Ask(texts, 7);
  EXPECT_THAT(Taken<FetchModuleText>(), IsEmpty());
  ASSERT_THAT(Replies(), SizeIs(1));
  EXPECT_THAT(Replies()[0].error, HasSubstr("--hlo-dump-dir"));
}

TEST_F(ModuleTextsTest, AFloodOfRequestsReadsOnce) {
  ModuleTexts texts(true);
  Ask(texts, 7);
  Ask(texts, 8);
  EXPECT_THAT(Taken<FetchModuleText>(), SizeIs(1));
  ASSERT_THAT(Replies(), SizeIs(1));
  EXPECT_EQ(Replies()[0].collection, 8);
  now_ += kModuleTextSpacing;
  Ask(texts, 9);
  ASSERT_THAT(Taken<FetchModuleText>(), SizeIs(2));
  // The text that was read for the first request does not answer the last.
  texts.Fetched(Read(Taken<FetchModuleText>()[0].fetch), effects_);
  EXPECT_THAT(Replies(), SizeIs(1));
  texts.Fetched(Read(Taken<FetchModuleText>()[1].fetch), effects_);
  EXPECT_EQ(Replies().back().collection, 9);
}

TEST_F(ModuleTextsTest, WhatTakesTooLongIsSaidSo) {
  ModuleTexts texts(true);
  Ask(texts, 7);
  now_ = texts.NextWake() - absl::Milliseconds(1);
  texts.Expire(now_, effects_);
  EXPECT_THAT(Replies(), IsEmpty());
  texts.Expire(texts.NextWake(), effects_);
  ASSERT_THAT(Replies(), SizeIs(1));
  EXPECT_THAT(Replies()[0].error, HasSubstr("not read in time"));
}

TEST_F(ModuleTextsTest, CancelledOrCutOffNobodyIsAnswered) {
  ModuleTexts texts(true);
  Ask(texts, 7);
  texts.Cancel({6});
  texts.Cancel({7});
  texts.Fetched(Read(1), effects_);
  EXPECT_THAT(Replies(), IsEmpty());
  now_ += kModuleTextSpacing;
  Ask(texts, 8);
  texts.Clear();
  texts.Fetched(Read(2), effects_);
  EXPECT_THAT(Replies(), IsEmpty());
}

TEST_F(ModuleTextsTest, TheDumpsAreLookedAtNowAndThenAndOnlyIfThereAreAny) {
  ModuleTexts none(false);
  none.Look(false, std::nullopt, now_, effects_);
  EXPECT_THAT(Taken<ListDumps>(), IsEmpty());
  ModuleTexts texts(true);
  texts.Look(false, std::nullopt, now_, effects_);
  texts.Look(false, std::nullopt, now_ + kHloDumpSpacing - absl::Milliseconds(1), effects_);
  EXPECT_THAT(Taken<ListDumps>(), SizeIs(1));
  texts.Look(false, std::nullopt, now_ + kHloDumpSpacing, effects_);
  EXPECT_THAT(Taken<ListDumps>(), SizeIs(2));
  for (int i = 0; i < 2; ++i) texts.Listed({{{}, {}, "no such directory"}}, effects_);
  EXPECT_THAT(Taken<Log>(), SizeIs(1));
}

class DumpedProgramsTest : public ModuleTextsTest {
 protected:
  static DumpsListed Compiled() { return {{{}, {{"jit_step", "cc"}}, ""}}; }
  size_t Named() const {
    Snapshot snapshot;
    texts_.AddTo(snapshot);
    return snapshot.programs.size();
  }

  ModuleTexts texts_{true};
};

TEST_F(DumpedProgramsTest, NameWhatASilentRuntimeDoesNot) {
  texts_.Look(true, now_ - absl::Minutes(3), now_, effects_);
  EXPECT_TRUE(Taken<ListDumps>()[0].fingerprints);
  EXPECT_EQ(Taken<ListDumps>()[0].process_age, absl::Minutes(3));
  EXPECT_EQ(Named(), 0U);
  texts_.Listed(Compiled(), effects_);
  Snapshot snapshot;
  texts_.AddTo(snapshot);
  ASSERT_THAT(snapshot.programs, SizeIs(1));
  EXPECT_EQ(snapshot.programs[0].module, "jit_step");
  EXPECT_EQ(snapshot.programs[0].fingerprint, "cc");
  // The runtime's own name of a program counts before that of a dump.
  snapshot.programs = {{"jit_f", "aa"}};
  texts_.AddTo(snapshot);
  EXPECT_THAT(snapshot.programs, SizeIs(1));
  snapshot.programs.clear();
  snapshot.cores.resize(1);
  texts_.AddTo(snapshot);
  EXPECT_THAT(snapshot.programs, IsEmpty());
}

TEST_F(DumpedProgramsTest, WhereARuntimeTellsTheyAreNotRead) {
  texts_.Look(false, std::nullopt, now_, effects_);
  EXPECT_FALSE(Taken<ListDumps>()[0].fingerprints);
  EXPECT_EQ(Taken<ListDumps>()[0].process_age, std::nullopt);
  EXPECT_FALSE(texts_.WorthWaiting(now_ + absl::Seconds(1), now_ + absl::Seconds(1)));
}

TEST_F(DumpedProgramsTest, OfTheProcessBeforeSayNothingOfThisOne) {
  texts_.Look(true, now_ - absl::Minutes(3), now_, effects_);
  texts_.Listed(Compiled(), effects_);
  now_ += absl::Seconds(1);
  texts_.Look(true, now_ - absl::Minutes(3) - absl::Seconds(1), now_, effects_);
  EXPECT_EQ(Named(), 1U);
  EXPECT_THAT(Taken<ListDumps>(), SizeIs(1));
  texts_.Look(true, now_, now_, effects_);
  EXPECT_EQ(Named(), 0U);
  EXPECT_THAT(Taken<ListDumps>(), SizeIs(2));
}

TEST_F(DumpedProgramsTest, ALaterLookWaitsForThemAndNotForLong) {
  texts_.Look(true, std::nullopt, now_, effects_);
  EXPECT_FALSE(texts_.WorthWaiting(now_, now_));
  const absl::Duration later = now_ + absl::Milliseconds(500);
  EXPECT_TRUE(texts_.WorthWaiting(later, later));
  EXPECT_FALSE(texts_.WorthWaiting(later, now_ + kHloDumpPatience));
  texts_.Listed(Compiled(), effects_);
  EXPECT_FALSE(texts_.WorthWaiting(later, later));
}

TEST_F(ModuleTextsTest, ANameFromADumpIsNotPreferredToTheRuntimes) {
  modules_.Learn({{"jit_dumped", "bb"}, {"jit_new", "dd"}});
  EXPECT_EQ(modules_.Find("bb"), "jit_known");
  EXPECT_EQ(modules_.Find("dd"), "jit_new");
}

}  // namespace
}  // namespace rapideye::agent
