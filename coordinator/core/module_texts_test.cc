#include "coordinator/core/module_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "coordinator/core/limits.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A job of one slice whose hang is being concluded; all agents have dumps.
FakeJob Concluding(int tasks = 4) {
  Options options;
  options.thresholds.launch = absl::Seconds(4);
  FakeJob job(options, 1, 0);
  for (int task = 0; task < tasks; ++task) {
    FakeAgent& agent = job.Add({0, task});
    agent.hello.slices = 1;
    agent.hello.tasks_per_slice = tasks;
    agent.hello.hlo_dumps = true;
    agent.dump = "module_0003.jit_f.after_optimizations.txt";
  }
  job.ConnectAll();
  job.Run(absl::Seconds(20));
  job.Freeze();
  EXPECT_TRUE(job.RunUntilConclude(absl::Seconds(30)));
  return job;
}

ProgramSide Side(const std::string& fingerprint, std::vector<WorkerId> workers) {
  return {"jit_f", fingerprint, std::move(workers)};
}

std::vector<ProgramSide> TwoSides() {
  return {Side("aa", {{0, 1}}), Side("bb", {{0, 0}, {0, 2}, {0, 3}})};
}

std::vector<wire::ModuleTextRequest> Asked(const FakeAgent& agent) {
  std::vector<wire::ModuleTextRequest> found;
  for (const wire::CoordinatorMessage& message : agent.inbox) {
    if (const auto* one = std::get_if<wire::ModuleTextRequest>(&message)) found.push_back(*one);
  }
  return found;
}

bool Cancelled(const FakeAgent& agent, int64_t collection) {
  const auto* cancel = std::get_if<wire::Cancel>(&agent.inbox.back());
  return cancel != nullptr && cancel->collection == collection;
}

TEST(ModuleTexts, OneWorkerOfEachSideIsAsked) {
  FakeJob job = Concluding();
  job.WantTexts(TwoSides());
  ASSERT_THAT(job.gathered(), SizeIs(1));
  const TextsGathered& texts = job.gathered()[0];
  EXPECT_EQ(texts.incident_id, job.concluded()[0].incident_id);
  ASSERT_THAT(texts.sides, SizeIs(2));
  EXPECT_EQ(texts.sides[0].worker, (WorkerId{0, 1}));
  EXPECT_EQ(texts.sides[1].worker, (WorkerId{0, 0}));
  for (const GatheredText& side : texts.sides) {
    ASSERT_TRUE(side.text.has_value());
    EXPECT_EQ(side.text->dump, "module_0003.jit_f.after_optimizations.txt");
    EXPECT_THAT(side.problem, IsEmpty());
  }
  ASSERT_THAT(Asked(job.at(0, 1)), SizeIs(1));
  EXPECT_EQ(Asked(job.at(0, 1))[0].module, "jit_f");
  EXPECT_EQ(Asked(job.at(0, 1))[0].fingerprint, "aa");
  EXPECT_EQ(Asked(job.at(0, 1))[0].deadline, kModuleTextDeadline);
  EXPECT_THAT(Asked(job.at(0, 2)), IsEmpty());
}

TEST(ModuleTexts, WhoHasNoDumpsIsNotAsked) {
  FakeJob job = Concluding();
  for (int task : {0, 1}) {
    FakeAgent& agent = job.at(0, task);
    job.Disconnect(agent);
    agent.hello.hlo_dumps = false;
    job.Connect(agent);
  }
  job.WantTexts(TwoSides());
  ASSERT_THAT(job.gathered(), SizeIs(1));
  EXPECT_THAT(job.gathered()[0].sides[0].problem, HasSubstr("--hlo-dump-dir"));
  EXPECT_EQ(job.gathered()[0].sides[1].worker, (WorkerId{0, 2}));
  EXPECT_TRUE(job.gathered()[0].sides[1].text.has_value());
  EXPECT_THAT(Asked(job.at(0, 0)), IsEmpty());
}

TEST(ModuleTexts, AnotherWorkerIsAskedIfOneHasNoneAFewTimes) {
  FakeJob job = Concluding(6);
  for (int task : {0, 2}) job.at(0, task).dump = "";
  job.WantTexts({Side("aa", {{0, 1}}), Side("bb", {{0, 0}, {0, 2}, {0, 3}})});
  ASSERT_THAT(job.gathered(), SizeIs(1));
  EXPECT_EQ(job.gathered()[0].sides[1].worker, (WorkerId{0, 3}));
  EXPECT_TRUE(job.gathered()[0].sides[1].text.has_value());

  FakeJob none = Concluding(6);
  for (auto& [id, agent] : none.agents()) agent.dump = "";
  none.WantTexts({Side("aa", {{0, 1}}), Side("bb", {{0, 0}, {0, 2}, {0, 3}, {0, 4}})});
  ASSERT_THAT(none.gathered(), SizeIs(1));
  EXPECT_EQ(none.gathered()[0].sides[1].problem, "there is no dump of it");
  EXPECT_THAT(Asked(none.at(0, 3)), SizeIs(1));
  EXPECT_THAT(Asked(none.at(0, 4)), IsEmpty());
}

TEST(ModuleTexts, ASilentWorkerCostsNoMoreThanTheDeadline) {
  FakeJob job = Concluding();
  job.at(0, 1).answers = false;
  job.WantTexts(TwoSides());
  EXPECT_THAT(job.gathered(), IsEmpty());
  job.Run(kModuleTextDeadline - absl::Milliseconds(1));
  EXPECT_THAT(job.gathered(), IsEmpty());
  job.Run(absl::Milliseconds(1));
  ASSERT_THAT(job.gathered(), SizeIs(1));
  EXPECT_THAT(job.gathered()[0].sides[0].problem, HasSubstr("in time"));
  EXPECT_TRUE(job.gathered()[0].sides[1].text.has_value());
  const int64_t collection = Asked(job.at(0, 1))[0].collection;
  EXPECT_TRUE(Cancelled(job.at(0, 1), collection));
  // A reply after the cancellation comes too late, and is no offence.
  job.Say(job.at(0, 1), wire::ModuleTextReply{collection, std::nullopt, "late"});
  EXPECT_FALSE(job.at(0, 1).closed.has_value());
  job.Concluded();
  EXPECT_EQ(job.core().counters().incidents, 1);
}

TEST(ModuleTexts, WhoLeavesAfterAnAnswerCostsNobodyATurn) {
  FakeJob job = Concluding();
  job.at(0, 0).dump = "";
  job.at(0, 2).answers = false;
  job.WantTexts(TwoSides());
  job.Disconnect(job.at(0, 0));
  EXPECT_THAT(job.gathered(), IsEmpty());
  job.Disconnect(job.at(0, 2));
  ASSERT_THAT(job.gathered(), SizeIs(1));
  EXPECT_EQ(job.gathered()[0].sides[1].worker, (WorkerId{0, 3}));
}

TEST(ModuleTexts, WhoLeavesIsReplaced) {
  FakeJob job = Concluding();
  job.at(0, 0).answers = false;
  job.WantTexts(TwoSides());
  EXPECT_THAT(job.gathered(), IsEmpty());
  job.Disconnect(job.at(0, 0));
  ASSERT_THAT(job.gathered(), SizeIs(1));
  EXPECT_EQ(job.gathered()[0].sides[1].worker, (WorkerId{0, 2}));

  FakeJob only = Concluding();
  only.at(0, 1).answers = false;
  only.WantTexts(TwoSides());
  only.Disconnect(only.at(0, 1));
  ASSERT_THAT(only.gathered(), SizeIs(1));
  EXPECT_THAT(only.gathered()[0].sides[0].problem, HasSubstr("connection broke"));
}

TEST(ModuleTexts, NothingIsWaitedForAtTheEnd) {
  FakeJob job = Concluding();
  job.at(0, 1).answers = false;
  job.WantTexts(TwoSides());
  job.Step(Stop{});
  ASSERT_THAT(job.gathered(), SizeIs(1));
  EXPECT_THAT(job.gathered()[0].sides[0].problem, HasSubstr("stopping"));
  EXPECT_FALSE(job.core().Finished());
  job.Concluded();
  EXPECT_TRUE(job.core().Finished());

  FakeJob stopped = Concluding();
  stopped.Step(Stop{});
  stopped.WantTexts(TwoSides());
  ASSERT_THAT(stopped.gathered(), SizeIs(1));
  EXPECT_FALSE(stopped.gathered()[0].sides[0].text.has_value());
}

TEST(ModuleTexts, AnIncidentThatIsOverWantsNone) {
  FakeJob job = Concluding();
  job.Concluded();
  job.WantTexts(TwoSides());
  ASSERT_THAT(job.gathered(), SizeIs(1));
  EXPECT_THAT(Asked(job.at(0, 0)), IsEmpty());
}

TEST(ModuleTexts, WhoWasNotAskedMayNotAnswerNorAnybodyTwice) {
  FakeJob job = Concluding();
  job.at(0, 1).answers = false;
  job.WantTexts(TwoSides());
  const int64_t collection = Asked(job.at(0, 1))[0].collection;
  const wire::ModuleTextReply reply{collection, std::nullopt, "none"};
  job.Say(job.at(0, 3), reply);
  ASSERT_TRUE(job.at(0, 3).closed.has_value());
  EXPECT_THAT(job.at(0, 3).closed->ToString(), HasSubstr("nothing was asked in"));
  job.Say(job.at(0, 0), reply);
  ASSERT_TRUE(job.at(0, 0).closed.has_value());
  EXPECT_THAT(job.at(0, 0).closed->ToString(), HasSubstr("a second answer for"));
  job.Say(job.at(0, 1), reply);
  EXPECT_FALSE(job.at(0, 1).closed.has_value());
  ASSERT_THAT(job.gathered(), SizeIs(1));
  EXPECT_TRUE(job.gathered()[0].sides[1].text.has_value());
}

}  // namespace
}  // namespace rapideye::coordinator
