// Verdicts from stacks that stand in the logs of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/classify.h"
#include "classifier/logs/job_logs.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kHealth[] = "completed step: 0\ncompleted step: 5\ncompleted step: 10\n";
constexpr char kGoesOn[] = "completed step: 15\ncompleted step: 20\ncompleted step: 25\n";
constexpr char kInDevice[] =
    "  File \"/opt/venv/lib/python3.11/site-packages/jax/_src/array.py\", line 623 in _value\n"
    "  File \"/job/train.py\", line 120 in train_step\n";
constexpr char kInLoader[] =
    "  File \"/usr/lib/python3.11/threading.py\", line 327 in wait\n"
    "  File \"/usr/lib/python3.11/queue.py\", line 171 in get\n"
    "  File \"/job/input_pipeline.py\", line 44 in next_batch\n"
    "  File \"/job/train.py\", line 118 in train_step\n";
constexpr char kInProgram[] = "  File \"/job/train.py\", line 131 in summarise\n";

Verdict Diagnose(const std::vector<std::string>& ranks) {
  JobLogs job(SignatureTable::BuiltIn());
  for (size_t i = 0; i < ranks.size(); ++i) {
    LogName name;
    name.path = absl::StrCat("rank-", i, ".log");
    const size_t log = job.Add(std::move(name));
    for (absl::string_view line : absl::StrSplit(ranks[i], '\n', absl::SkipEmpty())) {
      job.Take(log, line, std::nullopt);
    }
  }
  const JobEvidence evidence = job.Finish(nullptr);
  return ClassifyLogs(evidence.capture, evidence.logs);
}

std::vector<int> Named(const Verdict& verdict) {
  std::vector<int> named;
  for (const Culprit& culprit : verdict.culprits) named.push_back(culprit.worker.task);
  return named;
}

// A log that ends with the stacks of Python's fault handler.
std::string Dumped(const std::string& main) {
  return absl::StrCat(
      kHealth, "Timeout (0:05:00)!\nThread 0x00007fdefefc5640 (most recent call first):\n",
      "  File \"/opt/venv/lib/python3.11/site-packages/tqdm/_monitor.py\", line 60 in run\n",
      "  File \"/usr/lib/python3.11/threading.py\", line 973 in _bootstrap\n",
      "\nThread 0x00007fe403b964c0 (most recent call first):\n", main,
      "  File \"/job/train.py\", line 200 in <module>\n");
}

TEST(JobStacksTest, WhoDoesNotWaitByItsStackIsTheCulprit) {
  const std::string waits = Dumped(kInDevice);
  const Verdict verdict = Diagnose({waits, waits, Dumped(kInLoader), waits});
  EXPECT_EQ(verdict.cause, Cause::kDataInputStall);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  EXPECT_EQ(verdict.culprits.at(0).host_activity, HostActivity::kInput);
  EXPECT_THAT(Named(Diagnose({waits, Dumped(kInLoader)})), ElementsAre(1));
}

// py-spy's dump of one process, as a person collects them from all ranks into one file.
std::string Spied(int pid, const std::string& main) {
  return absl::StrCat("Process ", pid, ": python train.py\nPython v3.11.2 (/usr/bin/python3)\n\n",
                      "Thread ", pid, " (idle): \"MainThread\"\n", main,
                      "    <module> (train.py:200)\n\n");
}
constexpr char kSpiedInDevice[] =
    "    _value (jax/_src/array.py:623)\n    train_step (train.py:120)\n";
constexpr char kSpiedInLoader[] =
    "    wait (threading.py:327)\n    get (queue.py:171)\n    next_batch (feed.py:44)\n";

TEST(JobStacksTest, DumpsOfAllRanksMayStandInOneFile) {
  std::string headed;
  std::string bare;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string dump = Spied(4711 + rank, rank == 2 ? kSpiedInLoader : kSpiedInDevice);
    absl::StrAppend(&headed, "=== rank ", 3 - rank, " ===\n", dump);
    absl::StrAppend(&bare, "$ py-spy dump --pid ", 4711 + rank, "\n", dump);
  }
  Verdict verdict = Diagnose({headed});
  EXPECT_EQ(verdict.cause, Cause::kDataInputStall);
  EXPECT_THAT(Named(verdict), ElementsAre(1)) << "by the line above the dump";
  EXPECT_EQ(verdict.culprits.at(0).host_activity, HostActivity::kInput);
  verdict = Diagnose({bare});
  EXPECT_THAT(Named(verdict), ElementsAre(2)) << "in the order in which a launcher starts them";
  EXPECT_EQ(verdict.culprits.at(0).host, "pid-4713");
}

TEST(JobStacksTest, AnotherProgramBesideTheRanksIsNoRank) {
  const std::string board =
      "Process 99: python -m tensorboard.main\nThread 99 (idle): \"MainThread\"\n"
      "    next_batch (feed.py:44)\n    <module> (tensorboard/main.py:3)\n\n";
  const std::string ranks =
      absl::StrCat(Spied(11, kSpiedInDevice), Spied(12, kSpiedInDevice), Spied(13, kSpiedInDevice));
  EXPECT_THAT(Named(Diagnose({ranks + board})), IsEmpty());
  EXPECT_THAT(Named(Diagnose({ranks + Spied(14, kSpiedInLoader) + board})), ElementsAre(3));
  EXPECT_THAT(Named(Diagnose({Spied(11, kSpiedInDevice) + board})), IsEmpty());
}

TEST(JobStacksTest, DumpsOfOneHostBesideOthersTellNoRanks) {
  const auto host = [](const char* odd) {
    return absl::StrCat(Spied(11, kSpiedInDevice), Spied(12, kSpiedInDevice),
                        Spied(13, kSpiedInDevice), Spied(14, odd));
  };
  EXPECT_THAT(Named(Diagnose({host(kSpiedInDevice), host(kSpiedInLoader)})), IsEmpty());
}

TEST(JobStacksTest, StepsAfterTheDumpsOfAllRanksMakeThemThePast) {
  std::string log = kHealth;
  for (int rank = 0; rank < 4; ++rank) {
    absl::StrAppend(&log, "=== rank ", rank, " ===\n",
                    Spied(4711 + rank, rank == 2 ? kSpiedInLoader : kSpiedInDevice));
  }
  EXPECT_THAT(Named(Diagnose({log + kGoesOn})), IsEmpty());
  EXPECT_THAT(Named(Diagnose({log})), ElementsAre(2));
}

TEST(JobStacksTest, StacksThatTheProgramFormatsTellAsWell) {
  const auto formatted = [](const std::string& innermost) {
    return absl::StrCat(kHealth, "the trainer is stuck, threads:\nThread: MainThread(140)\n",
                        "  File \"/job/train.py\", line 200, in <module>\n    main()\n",
                        "  File \"/job/train.py\", line 118, in main\n    step()\n", innermost);
  };
  const std::string waits = formatted(
      "  File \"/opt/venv/lib/python3.11/site-packages/jax/_src/array.py\", line 623, in _value\n");
  const std::string loads = formatted(
      "  File \"/job/input_pipeline.py\", line 44, in next_batch\n    return q.get()\n"
      "  File \"/usr/lib/python3.11/queue.py\", line 171, in get\n"
      "    self.not_empty.wait()\n");
  EXPECT_THAT(Named(Diagnose({waits, waits, loads, waits})), ElementsAre(2));
  EXPECT_THAT(Named(Diagnose({waits, waits, loads + kGoesOn, waits})), IsEmpty());
}

TEST(JobStacksTest, StepsAfterTheStacksMakeThemThePast) {
  const std::string waits = absl::StrCat(Dumped(kInDevice), kGoesOn);
  const std::string loads = absl::StrCat(Dumped(kInLoader), kGoesOn);
  const Verdict verdict = Diagnose({waits, waits, loads, waits});
  EXPECT_EQ(verdict.cause, Cause::kNoHang);
  EXPECT_THAT(Named(verdict), IsEmpty());
}

// A process may write its stacks every few minutes, in health, too.
TEST(JobStacksTest, StacksWithinTheTimeOfAStepShowNoStandstill) {
  const auto at = [](const std::string& frames, int second) {
    const auto line = [](int minute, int s, absl::string_view text) {
      return absl::StrCat("2026-11-22T10:", minute, ":", s, "Z ", text, "\n");
    };
    std::string log;
    for (int minute = 10; minute < 20; ++minute) {
      log += line(minute, 10, absl::StrCat("completed step: ", minute));
    }
    log += line(19, second, "Thread 0x00007fe403b964c0 (most recent call first):");
    for (absl::string_view frame : absl::StrSplit(frames, '\n', absl::SkipEmpty())) {
      log += line(19, second, frame);
    }
    return log;
  };
  EXPECT_THAT(Named(Diagnose({at(kInDevice, 12), at(kInDevice, 12), at(kInLoader, 12)})),
              IsEmpty());
}

TEST(JobStacksTest, EverybodyAtOnePlaceIsNobodysFault) {
  const std::string waits = Dumped(kInDevice);
  const Verdict verdict = Diagnose({waits, waits, waits, waits});
  EXPECT_EQ(verdict.cause, Cause::kUnknown) << "a job that stands is not said to run";
  EXPECT_THAT(Named(verdict), IsEmpty());
}

// float(loss) waits for the device as well, below Python's frames.
TEST(JobStacksTest, AFunctionOfTheProgramAloneAccusesNobody) {
  const std::string waits = Dumped(kInDevice);
  EXPECT_THAT(Named(Diagnose({waits, waits, Dumped(kInProgram), waits})), IsEmpty());
}

TEST(JobStacksTest, AWorkerWithoutStacksIsNotGuessed) {
  const std::string waits = Dumped(kInDevice);
  EXPECT_THAT(Named(Diagnose({waits, waits, kHealth, waits})), IsEmpty());
  EXPECT_THAT(Named(Diagnose({kHealth, kHealth, Dumped(kInLoader), kHealth})), IsEmpty())
      << "the stack of one tells nothing of the others";
}

TEST(JobStacksTest, AThreadThatLoadedDataAndDiedIsTheReason) {
  const auto died = [](absl::string_view file) {
    return absl::StrCat(
        kHealth, "Exception in thread Thread-12:\nTraceback (most recent call last):\n",
        "  File \"/usr/lib/python3.11/threading.py\", line 1045, in _bootstrap_inner\n",
        "    self.run()\n  File \"", file, "\", line 166, in _worker\n",
        "    batch = next(it)\nValueError: bad batch\n");
  };
  const std::string loader = died("/x/site-packages/torch_xla/distributed/parallel_loader.py");
  const Verdict verdict = Diagnose({kHealth, kHealth, loader, kHealth});
  EXPECT_EQ(verdict.detail, Detail::kInputPipeline);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  EXPECT_EQ(verdict.culprits.at(0).host_activity, HostActivity::kInput);
  // A thread beside the loop, and one after which the loop went on.
  EXPECT_THAT(
      Named(Diagnose({kHealth, kHealth, died("/x/site-packages/tqdm/_monitor.py"), kHealth})),
      IsEmpty());
  EXPECT_THAT(Named(Diagnose({kHealth, kHealth, absl::StrCat(loader, kGoesOn), kHealth})),
              IsEmpty());
}

}  // namespace
}  // namespace rapideye::logs
