#include "classifier/logs/job_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "classifier/classify.h"
#include "classifier/logs/limits.h"
#include "tests/support/job_log_texts.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(JobLogsTest, TheLastStepsHaveTimes) {
  std::string log;
  for (int step = 0; step < 90; ++step) {
    absl::StrAppend(&log, "2026-11-22 12:", 10 + step / 50, ":", 10 + step % 50,
                    ",000 INFO root: completed step: ", step, "\n");
  }
  const JobEvidence evidence = Read({{"rank-0.log", log},
                                     {"rank-1.log",
                                      "2026-11-22 12:00:00,000 INFO root: completed step: 1\n"
                                      "2026-11-22 12:00:10,000 INFO root: completed step: 2\n"
                                      "2026-11-22 12:00:20,000 INFO root: completed step: 3\n"
                                      "2026-11-22 12:00:30,000 INFO root: saving\n"}});
  ASSERT_THAT(evidence.logs.workers, SizeIs(2));
  EXPECT_THAT(evidence.logs.workers[0].step_ages_ms, SizeIs(kMaxStepTimes));
  const WorkerLog& second = evidence.logs.workers[1];
  ASSERT_THAT(second.step_ages_ms, testing::Not(IsEmpty()));
  EXPECT_EQ(second.step_ages_ms.back(), second.step_ms);
  EXPECT_EQ(*second.step_ms - *second.last_line_ms, 10'000);
}

TEST(JobLogsTest, WhoRaisedFirstByItsOwnHandIsTheCulprit) {
  const Verdict verdict = Diagnose({Health(), Health(kClosed), Health(kRaised), Health(kClosed)});
  EXPECT_EQ(verdict.cause, Cause::kUnrecoverableError);
  EXPECT_EQ(verdict.detail, Detail::kProcessExit);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
}

TEST(JobLogsTest, RanksCountOverSlices) {
  std::vector<std::pair<std::string, std::string>> logs;
  for (const char* pod : {"0-0", "0-1", "1-0", "1-1"}) {
    logs.emplace_back(absl::StrCat("train-slice-", pod, "-x2k2q.log"),
                      Health(pod == std::string("0-0") ? kHeartbeat : ""));
  }
  const JobEvidence evidence = Read(logs);
  const Verdict verdict = ClassifyLogs(evidence.capture, evidence.logs);
  ASSERT_THAT(verdict.culprits, SizeIs(1));
  EXPECT_EQ(verdict.culprits[0].worker, (WorkerId{1, 0}));  // task 2 of the job
}

TEST(JobLogsTest, AJobWhoseThreadDiedIsNotRunning) {
  const std::string died = absl::StrCat(kHealth,
                                        "Exception in thread Thread-5 (pack):\n"
                                        "Traceback (most recent call last):\n"
                                        "  File \"/job/train.py\", line 80, in pack\n"
                                        "KeyError: 'document'\n");
  EXPECT_EQ(Diagnose({kHealth, died}).cause, Cause::kUnknown);
  const std::string later = "completed step: 15\ncompleted step: 20\ncompleted step: 25\n";
  EXPECT_EQ(Diagnose({absl::StrCat(kHealth, later), absl::StrCat(died, later)}).cause,
            Cause::kNoHang);
}

TEST(JobLogsTest, AWorkerIsCalledByWhatTellsItsFileFromOthers) {
  const auto hosts = [](const std::vector<std::string>& paths) {
    std::vector<std::pair<std::string, std::string>> logs;
    for (const std::string& path : paths) logs.emplace_back(path, kHealth);
    std::vector<std::string> found;
    for (const Snapshot& snapshot : Read(logs).capture.snapshots) found.push_back(snapshot.host);
    return found;
  };
  EXPECT_THAT(hosts({"job/rank-0.log", "job/rank-1.log"}), ElementsAre("rank-0", "rank-1"));
  EXPECT_THAT(hosts({"/job/host-0/log", "/job/host-1/log"}), ElementsAre("host-0", "host-1"));
  EXPECT_THAT(hosts({"run/0/stdout.log", "run/0/stderr.log", "run/1/stdout.log"}),
              ElementsAre("0", "1"));
  EXPECT_THAT(hosts({"log"}), ElementsAre("log"));
}

TEST(JobLogsTest, WhoTriesAgainAndAgainIsNamedIfTheOthersDoNot) {
  std::string tries = Health();
  for (int i = 0; i < 9; ++i)
    absl::StrAppend(&tries, "Retrying read of shard 7, attempt ", i, "\n");
  const Verdict verdict = Diagnose({Health(), Health(), tries, Health()});
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  EXPECT_EQ(verdict.culprits.at(0).host_activity, HostActivity::kRetry);
  EXPECT_EQ(Diagnose({tries, tries, tries, tries}).cause, Cause::kNoHang);
}

TEST(JobLogsTest, StepsThatGoOnAreNoHang) {
  const std::string later = "completed step: 15\ncompleted step: 20\ncompleted step: 25\n";
  const Verdict healthy = Diagnose({Health(), Health(), Health()});
  EXPECT_EQ(healthy.detail, Detail::kRunning);
  // Events before the last steps ended nothing: a SIGTERM or an exception that was caught.
  for (const char* before : {kTerm, kRaised, kClosed}) {
    const Verdict verdict = Diagnose(
        {Health(later), Health(later), absl::StrCat(kHealth, before, later), Health(later)});
    EXPECT_EQ(verdict.cause, Cause::kNoHang) << before;
    EXPECT_EQ(verdict.detail, Detail::kRunning) << before;
  }
  // If others speak of a failure, the steps may only have waited in a buffer.
  EXPECT_THAT(Named(Diagnose({Health(kClosed), Health(kClosed),
                              absl::StrCat("completed step: 0\n", kRaised, later)})),
              ElementsAre(2));
}

TEST(JobLogsTest, AJobWhoseStepsAreOldStands) {
  const std::string end = "2026-11-22 12:30:00,000 INFO root: heartbeat\n";
  std::string steps;
  for (int i = 0; i < 6; ++i) {
    absl::StrAppend(&steps, "2026-11-22 12:00:0", i, ",000 INFO root: completed step: ", i, "\n");
  }
  EXPECT_EQ(Diagnose({steps, steps}).cause, Cause::kNoHang);
  EXPECT_EQ(Diagnose({steps + end, steps}).cause, Cause::kUnknown);
}

TEST(JobLogsTest, ARunThatHasEndedIsNoHangEvenIfOneFallsOver) {
  const std::string done = Health("training finished after 11 steps\n");
  const Verdict verdict =
      Diagnose({done, done, Health("terminate called without an active exception\n"), done});
  EXPECT_EQ(verdict.cause, Cause::kNoHang);
  EXPECT_EQ(verdict.detail, Detail::kEnded);
  EXPECT_EQ(Diagnose({Health(kTerm), Health(kTerm)}).detail, Detail::kEnded);
}

TEST(JobLogsTest, ARunThatThePlatformEndsIsPreempted) {
  const std::string taken = "node pool-1: operation compute.instances.preempted started\n";
  const Verdict verdict = Diagnose({Health(taken + kTerm)});
  EXPECT_EQ(verdict.cause, Cause::kUnrecoverableError);
  EXPECT_EQ(verdict.detail, Detail::kPreempted);
  EXPECT_THAT(Named(verdict), ElementsAre(0));
  EXPECT_FALSE(verdict.removal.eligible);
  // Of several workers, any may be the one whose machine it is.
  const Verdict several = Diagnose({Health(taken + kTerm), Health(kTerm)});
  EXPECT_EQ(several.detail, Detail::kPreempted);
  EXPECT_THAT(several.culprits, IsEmpty());
  // A notice of maintenance, or a signal alone, is no preemption.
  EXPECT_EQ(Diagnose({Health(absl::StrCat("upcoming maintenance event in 60 s\n", kTerm))}).cause,
            Cause::kNoHang);
}

TEST(JobLogsTest, AChildThatIsKilledIsItsHosts) {
  const std::string killed = "Exception: process 0 terminated with signal SIGKILL\n";
  const Verdict verdict = Diagnose({Health(killed)});
  EXPECT_EQ(verdict.detail, Detail::kProcessExit);
  EXPECT_THAT(Named(verdict), ElementsAre(0));
  // Its launcher ended it; the steps before are no all-clear.
  EXPECT_EQ(Diagnose({Health("Exception: process 0 terminated with signal SIGTERM\n")}).cause,
            Cause::kUnknown);
}

TEST(JobLogsTest, ALauncherSaysHowTasksEnded) {
  const std::string launcher =
      "srun: error: node3: task 2: Killed\n"
      "srun: Terminating StepId=4711.0\n"
      "srun: error: node1: task 0: Terminated\n";
  const JobEvidence evidence = Read({{"rank-0.log", kHealth},
                                     {"rank-1.log", kHealth},
                                     {"rank-2.log", kHealth},
                                     {"launch.err", launcher}});
  const Verdict verdict = ClassifyLogs(evidence.capture, evidence.logs);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  EXPECT_EQ(verdict.detail, Detail::kProcessExit);
}

TEST(JobLogsTest, ALogOfSeveralWorkersAccusesNobody) {
  const JobEvidence evidence =
      Read({{"train.log", absl::StrCat("[Gloo] Rank 0 is connected to 1 peer ranks\n",
                                       "[Gloo] Rank 1 is connected to 1 peer ranks\n", kRaised)}});
  EXPECT_THAT(evidence.logs.of_nobody, SizeIs(1));
  const Verdict verdict = ClassifyLogs(evidence.capture, evidence.logs);
  EXPECT_EQ(verdict.cause, Cause::kUnrecoverableError);
  EXPECT_THAT(verdict.culprits, IsEmpty());
}

TEST(JobLogsTest, StepsThatStandThereSeveralTimesShowALogOfSeveralWorkers) {
  const auto log = [](int times, const char* text) {
    std::string lines;
    for (int step = 0; step < 8; ++step) {
      for (int i = 0; i < times; ++i) {
        absl::StrAppend(&lines, "step ", step, " loss 2.3 in 0.", times > 1 ? i : 0, " s\n");
      }
    }
    return lines + text;
  };
  const auto diagnose = [](const std::string& text) {
    const JobEvidence evidence = Read({{"train.log", text}});
    return ClassifyLogs(evidence.capture, evidence.logs);
  };
  const Verdict of_one = diagnose(log(1, kRaised));
  EXPECT_THAT(Named(of_one), ElementsAre(0));
  const Verdict of_many = diagnose(log(4, kRaised));
  EXPECT_EQ(of_many.cause, Cause::kUnrecoverableError);
  EXPECT_THAT(of_many.culprits, IsEmpty());
  EXPECT_EQ(diagnose(log(4, "")).detail, Detail::kRunning);
}

TEST(JobLogsTest, WhoMissedABarrierAfterAnErrorOfNobodyHasRaisedIt) {
  constexpr char kMissed[] =
      "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: save::1. "
      "Timed out task names: /job:jax_worker/replica:0/task:2\n";
  const auto diagnose = [](const std::string& text) {
    const JobEvidence evidence =
        Read({{"all.log", absl::StrCat("process 0/4\nprocess 3/4\n", text)}});
    return ClassifyLogs(evidence.capture, evidence.logs);
  };
  const Verdict raised = diagnose(absl::StrCat(kRaised, kMissed));
  EXPECT_EQ(raised.cause, Cause::kUnrecoverableError);
  EXPECT_EQ(raised.detail, Detail::kProcessExit);
  EXPECT_THAT(Named(raised), ElementsAre(2));
  EXPECT_THAT(raised.evidence.back().statement, HasSubstr("ValueError"));
  // Those who waited raise something of their own afterwards.
  const Verdict waited = diagnose(absl::StrCat(kMissed, kRaised));
  EXPECT_EQ(waited.detail, Detail::kProgramNotQueued);
  EXPECT_THAT(Named(waited), ElementsAre(2));
}

TEST(JobLogsTest, AWaitInALogOfSeveralWorkersIsNoError) {
  const JobEvidence evidence = Read({{"train.log",
                                      "[Gloo] Rank 0 is connected to 1 peer ranks\n"
                                      "[Gloo] Rank 1 is connected to 1 peer ranks\n"
                                      "nfs: server fs.example not responding, still trying\n"}});
  EXPECT_THAT(evidence.logs.of_nobody, IsEmpty());
}

TEST(JobLogsTest, AFatalCheckEndsItsProcessInEitherForm) {
  for (const char* fatal :
       {"F0819 19:12:17.857731    4353 program_group.cc:86] Check failed: n > 0\n",
        "2022-08-19 19:12:17.857731: F core/program_group.cc:86] Check failed: n > 0\n"}) {
    const Verdict verdict = Diagnose({Health(), Health(fatal), Health()});
    EXPECT_EQ(verdict.detail, Detail::kProcessExit) << fatal;
    EXPECT_THAT(Named(verdict), ElementsAre(1)) << fatal;
  }
  // An error that the log reports, and that the program survived.
  EXPECT_THAT(Diagnose({Health(), Health("2022-08-19 19:12:17.857731: E core/group.cc:86] Check "
                                         "failed: n > 0\n")})
                  .culprits,
              IsEmpty());
}

TEST(JobLogsTest, MemoryIsBoundedWhateverALogHolds) {
  JobLogs job(SignatureTable::BuiltIn());
  LogName name;
  name.path = "rank-0.log";
  const size_t log = job.Add(std::move(name));
  for (int i = 0; i < 20'000; ++i) {
    job.Take(log, absl::StrCat("mlx5_", i, ": cqe with error ", i), std::nullopt);
    job.Take(log, absl::StrCat("srun: error: n: task ", i, ": Killed"), std::nullopt);
  }
  const JobEvidence evidence = job.Finish(nullptr);
  EXPECT_LE(evidence.capture.snapshots.at(0).log_events.size(), 256U);
  EXPECT_LE(evidence.capture.snapshots.size(), 300U);
}

TEST(JobLogsTest, WhoFallsOverAsItsPeerIsGoneIsNoCause) {
  constexpr char kFell[] =
      "E external/xla/nccl_utils.cc:191] Aborting communicator: 0x5 due to async NCCL error: "
      "remote "
      "process exited or there was a network error\n*** SIGSEGV received at time=1 on cpu 3 ***\n";
  EXPECT_THAT(Named(Diagnose({Health(kFell), Health(kFell), Health(), Health()})),
              testing::Not(testing::Contains(0)));
  // Without such words before it, the crash is the worker's own.
  const Verdict verdict = Diagnose({Health("*** SIGSEGV received at time=1 on cpu 3 ***\n"),
                                    Health(kFell), Health(kFell), Health(kFell)});
  EXPECT_EQ(verdict.detail, Detail::kProcessExit);
  EXPECT_THAT(Named(verdict), ElementsAre(0));
}

TEST(JobLogsTest, AWatchdogTellsTheRankOfALog) {
  constexpr char kFailed[] =
      "[E ProcessGroupNCCL.cpp:916] [Rank %s] NCCL watchdog thread terminated with exception: CUDA "
      "error: uncorrectable ECC error encountered\n";
  const auto verdict = [&](const std::vector<std::string>& ranks) {
    std::string text;
    for (const std::string& rank : ranks) {
      absl::StrAppend(&text, absl::StrReplaceAll(kFailed, {{"%s", rank}}));
    }
    const JobEvidence evidence = Read({{"train.log", text}});
    return ClassifyLogs(evidence.capture, evidence.logs);
  };
  EXPECT_THAT(Named(verdict({"3"})), ElementsAre(3));
  // A log of several workers, whose lines do not name the worker that failed.
  EXPECT_THAT(Named(verdict({"3", "4"})), IsEmpty());
}

TEST(JobLogsTest, AFailedPortOfAFewIsNamed) {
  constexpr char kPort[] = "node:34050:34121 [0] NCCL WARN NET/IB : Got async event : port error\n";
  constexpr char kCompletion[] =
      "node:73076:73185 [4] NCCL WARN NET/IB : Got completion from peer node2<37948> with error "
      "12\n";
  const Verdict verdict = Diagnose({Health(kCompletion), Health(kPort), Health(), Health()});
  EXPECT_EQ(verdict.detail, Detail::kDcnHost);
  EXPECT_THAT(Named(verdict), ElementsAre(1));
  // Either end of a transfer can be at fault; and where many ports fail, no single port is.
  EXPECT_THAT(Named(Diagnose({Health(kCompletion), Health(), Health(), Health()})), IsEmpty());
  EXPECT_THAT(Named(Diagnose({Health(kPort), Health(kPort), Health(kPort), Health()})), IsEmpty());
  // Steps that go on show that the link came back.
  EXPECT_THAT(Named(Diagnose({Health(), Health(absl::StrCat(kPort,
                                                            "completed step: 15\n"
                                                            "completed step: 20\n"
                                                            "completed step: 25\n"))})),
              IsEmpty());
}

TEST(JobLogsTest, WhomAnOlderBarrierMissesIsOfTheJob) {
  constexpr char kAbsent[] =
      "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: "
      "save0. Timed out task names:\n/job:jax_worker/replica:0/task:3\n\nAdditional GRPC\n";
  const JobEvidence evidence = Read({{"train.log", kAbsent}});
  EXPECT_THAT(evidence.capture.header.expected_workers, SizeIs(4));
  EXPECT_THAT(Named(ClassifyLogs(evidence.capture, evidence.logs)), ElementsAre(3));
}

TEST(JobLogsTest, AMachineThatTheRuntimeNamesIsOfTheJob) {
  constexpr char kMissed[] =
      "W0511 18:18:50.796322 914 session_master.cc:539] The task with address "
      "train-0-2.svc:8471 missed 3 health checks.The most recent health check failed with the "
      "following error: UNAVAILABLE: failed to connect to all addresses\n";
  constexpr char kFailed[] =
      "E0511 18:18:50.796514 915 session_master.cc:505] Session is failing with the following "
      "status: Session master detected TPU session error from worker train-0-2.svc:8471. The "
      "reporting TPU chip locations are:tpu31:pe4:3\n";
  const std::string last = absl::StrCat(Health(), kMissed);
  for (const char* pod : {"train-0-1-x7k2q.log", "train-0-2-b2c4d.log"}) {
    const JobEvidence lost = Read({{"train-0-0-k7x2q.log", last}, {pod, Health()}});
    EXPECT_THAT(lost.capture.header.expected_workers, SizeIs(3));
    const Verdict verdict = ClassifyLogs(lost.capture, lost.logs);
    EXPECT_EQ(verdict.detail, Detail::kWorkerLost);
    EXPECT_THAT(Named(verdict), ElementsAre(2));
  }
  const JobEvidence chip = Read({{"job.log", absl::StrCat(Health(), kFailed)}});
  const Verdict verdict = ClassifyLogs(chip.capture, chip.logs);
  EXPECT_EQ(verdict.cause, Cause::kBadTpuChip);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  EXPECT_EQ(verdict.culprits.at(0).host, "train-0-2");
}

// A program may print labels of its own choice, a new label in each line.
TEST(JobLogsTest, OfTooManyLogsTheOthersAreOne) {
  JobLogs logs(SignatureTable::BuiltIn());
  const auto named = [](size_t rank) {
    LogName name;
    name.path = "all.log";
    name.label = static_cast<int32_t>(rank);
    return name;
  };
  for (size_t i = 0; i < kMaxLogs; ++i) ASSERT_EQ(logs.Add(named(i)), i);
  EXPECT_EQ(logs.Add(named(kMaxLogs)), kMaxLogs);
  EXPECT_EQ(logs.Add(named(kMaxLogs + 1)), kMaxLogs);
}

constexpr char kMonitored[] =
    "RuntimeError: [Rank 0]: Ranks 2, 3 failed to pass monitoredBarrier in 2000000 ms\n";

TEST(JobLogsTest, WhomTheWaitingNameIsAwaited) {
  const Verdict barrier = Diagnose({kMonitored});
  EXPECT_EQ(barrier.cause, Cause::kDataInputStall);
  EXPECT_THAT(Named(barrier), ElementsAre(2, 3));
  EXPECT_THAT(barrier.culprits.at(0).why, HasSubstr("did not come, in the words of"));
  const std::string most = absl::StrReplaceAll(kMonitored, {{"2, 3", "1, 2, 3"}});
  EXPECT_THAT(Named(Diagnose({most})), IsEmpty());  // they may wait elsewhere for rank 0
  const Verdict id = Diagnose(
      {"", absl::StrCat(kHealth,
                        "torch.distributed.DistBackendError: [1] is setting up NCCL communicator "
                        "and retrieving ncclUniqueId from [0] via c10d key-value store by key "
                        "'0', but store->get('0') got error: wait timeout after 600000ms\n")});
  EXPECT_THAT(Named(id), ElementsAre(0));
  // A worker that waits itself is a victim.
  EXPECT_THAT(Named(Diagnose({Health(), kMonitored, Health(kTimedOut), Health(kTimedOut)})),
              IsEmpty());
  // A rank that comes after the barrier has failed says that it came.
  const auto came = [](int rank) {
    return Health(absl::StrCat("RuntimeError: Rank ", rank,
                               " successfully reached monitoredBarrier, but received errors while "
                               "waiting for send/recv from rank 0. Please check rank 0 logs for "
                               "faulty rank.\n"));
  };
  const std::string one = absl::StrReplaceAll(kMonitored, {{"Ranks 2, 3", "Rank 2"}});
  EXPECT_THAT(Named(Diagnose({Health(one), came(1), came(2)})), ElementsAre(2));
}

TEST(JobLogsTest, HalfOfABarrierIsNamedByItsWholeList) {
  const auto barrier = [](absl::string_view names) {
    return absl::StrCat(
        "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: "
        "multihost_broadcast_sync0. Timed out task names:\n",
        names, "\n");
  };
  const Verdict half = Diagnose({"", barrier("/job:jax_worker/replica:0/task:3\n"
                                             "/job:jax_worker/replica:0/task:0")});
  EXPECT_EQ(half.cause, Cause::kDataInputStall);
  EXPECT_THAT(Named(half), ElementsAre(0, 3));
  const Verdict most = Diagnose({"", barrier("/job:jax_worker/replica:0/task:3\n"
                                             "/job:jax_worker/replica:0/task:2\n"
                                             "/job:jax_worker/replica:0/task:0")});
  EXPECT_THAT(Named(most), IsEmpty());
}

TEST(JobLogsTest, WhoBeginsWhatAllOthersFinishedIsBehind) {
  const auto at = [](int minute, absl::string_view text) {
    return absl::StrCat("2026-08-21T09:", minute, ":00Z INFO ", text, "\n");
  };
  const std::string begun = at(36, "restoring checkpoint step-2891");
  const std::string done = begun + at(58, "tensorstore reads finished");
  const Verdict verdict = Diagnose({done, done, begun, done});
  EXPECT_EQ(verdict.cause, Cause::kDataInputStall);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  EXPECT_EQ(verdict.culprits.at(0).host_activity, HostActivity::kCheckpointRestore);
  EXPECT_THAT(Named(Diagnose({done, done, begun, begun})), IsEmpty());
  // Too soon to tell; and a last line that begins nothing.
  const std::string soon = at(57, "restoring checkpoint step-2891");
  EXPECT_THAT(Named(Diagnose({done, done, soon + at(58, "x"), done})), IsEmpty());
  EXPECT_THAT(Named(Diagnose({done, done, at(36, "ready"), done})), IsEmpty());
}

TEST(JobLogsTest, ALoaderThatFailedAndAnErrorOfOneAloneAreSaid) {
  const Verdict loader = Diagnose(
      {Health("Training stopped: `load_next_batch()` failed with <class 'RuntimeError'>\n")});
  EXPECT_EQ(loader.detail, Detail::kInputPipeline);
  EXPECT_THAT(Named(loader), ElementsAre(0));
  const auto vllm = [](int second, absl::string_view text) {
    return absl::StrCat("INFO 09-15 12:06:", second, " [core.py:99] ", text, "\n");
  };
  const std::string ready = vllm(10, "Init mesh");
  const std::string fatal = ready + vllm(22, "EngineCore encountered a fatal error.");
  const Verdict alone = Diagnose({fatal, ready, ready, ready});
  EXPECT_EQ(alone.cause, Cause::kUnrecoverableError);
  EXPECT_THAT(Named(alone), ElementsAre(0));
  EXPECT_THAT(Named(Diagnose({fatal, fatal, ready, ready})), IsEmpty());
  EXPECT_EQ(Diagnose({fatal}).cause, Cause::kUnknown);
}

TEST(JobLogsTest, ARuntimeThatWaitsForOtherHostsNamesNobody) {
  const std::string lingers =
      "xla_bridge.py:146: UserWarning: TPU backend initialization is taking more than 60.0 "
      "seconds. Did you run your code on all TPU hosts?\n";
  const Verdict verdict = Diagnose({lingers});
  EXPECT_EQ(verdict.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(verdict), IsEmpty());
  EXPECT_EQ(Diagnose({absl::StrCat(lingers, kHealth)}).cause, Cause::kNoHang);
  EXPECT_EQ(Diagnose({lingers, lingers}).cause, Cause::kUnknown);
}

TEST(JobLogsTest, WhomTheKernelKilledForMemoryIsTheCulprit) {
  const std::string killed =
      "kernel: Out of memory: Killed process 4711 (python3) total-vm:4194304kB\n";
  const Verdict verdict = Diagnose({Health(), Health(kClosed), Health(killed), Health(kClosed)});
  EXPECT_EQ(verdict.detail, Detail::kOutOfMemory);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  // A worker that complains of others after that lives; the kernel may have killed another program.
  const std::string other = absl::StrReplaceAll(killed, {{"python3", "telegraf"}});
  for (const std::string& more : {absl::StrCat(killed, kClosed), absl::StrCat(other, kClosed)}) {
    EXPECT_THAT(Named(Diagnose({Health(), Health(kClosed), Health(more), Health(kClosed)})),
                ElementsAre(0));
  }
}

TEST(JobLogsTest, TheFirstFailureOfANodeIsARankOnlyOfThatNodeAlone) {
  const auto failed = [](int code) {
    return absl::StrCat(
        "E1212 20:01:21.662000 115287 torch/distributed/elastic/multiprocessing/"
        "api.py:882] failed (exitcode: ",
        code, ") local_rank: 7 (pid: 115533) of binary: /usr/bin/python3\n");
  };
  const auto read = [](const std::vector<std::pair<std::string, std::string>>& logs) {
    const JobEvidence evidence = Read(logs);
    return Named(ClassifyLogs(evidence.capture, evidence.logs));
  };
  EXPECT_THAT(read({{"train.log", failed(-9)}}), ElementsAre(7));
  EXPECT_THAT(read({{"train.log", failed(-15)}}), IsEmpty());
  EXPECT_THAT(read({{"node-0.log", "INFO started\n"}, {"node-1.log", failed(-9)}}), IsEmpty());
}

TEST(JobLogsTest, AWatchdogThatEndsItsProcessInASharedLogIsNoError) {
  const std::string aborts =
      "terminate called after throwing an instance of 'std::runtime_error'\n";
  const std::string waits =
      "[E ProcessGroupNCCL.cpp:821] [Rank 0] Watchdog caught collective operation timeout: X\n"
      "[E ProcessGroupNCCL.cpp:821] [Rank 3] Watchdog caught collective operation timeout: X\n";
  EXPECT_EQ(Diagnose({waits + aborts}).cause, Cause::kUnknown);
  EXPECT_EQ(Diagnose({Health(aborts)}).detail, Detail::kProcessExit) << "an abort of its own";
}

TEST(JobLogsTest, AnAbortThatAWatchdogMadeIsNoCause) {
  const std::string aborted =
      "[2023-12-22 06:45:48,361] torch.distributed.elastic.multiprocessing.api: [ERROR] failed "
      "(exitcode: -6) local_rank: 4 (pid: 65506) of binary: /usr/bin/python\n";
  const std::string watchdog =
      "[E ProcessGroupNCCL.cpp:475] [Rank 13] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=21668, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800522 "
      "milliseconds\n";
  const auto read = [](const std::string& text) {
    const JobEvidence evidence = Read({{"node2.log", text}});
    return Named(ClassifyLogs(evidence.capture, evidence.logs));
  };
  EXPECT_THAT(read(aborted), ElementsAre(4));
  EXPECT_THAT(read(watchdog + aborted), IsEmpty());
}

TEST(JobLogsTest, TasksOfSlurmAreNoRanksWhereTorchrunStartsThem) {
  const JobEvidence evidence = Read(
      {{"slurm.out",
        "Root Cause (first observed failure):\n  rank      : 10 (local_rank: 2)\n"
        "  exitcode  : -9 (pid: 214033)\nsrun: error: node1: task 0: Exited with exit code 1\n"}});
  EXPECT_THAT(Named(ClassifyLogs(evidence.capture, evidence.logs)), ElementsAre(10));
}

TEST(JobLogsTest, ALogThatSeveralProcessesOfNcclWriteIsNobodys) {
  const std::string memory =
      "node1:3063028:3066152 [3] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'\n";
  const auto read = [](const std::string& text) {
    const JobEvidence evidence = Read({{"train.log", text}});
    return ClassifyLogs(evidence.capture, evidence.logs);
  };
  EXPECT_THAT(Named(read(memory)), ElementsAre(0));
  const Verdict shared = read("node1:3063025:3066048 [0] NCCL INFO Connected all rings\n" + memory);
  EXPECT_EQ(shared.cause, Cause::kUnrecoverableError);
  EXPECT_THAT(Named(shared), IsEmpty());
}

// Pods may be named as anything: "x-7-7" states slice 7 and task 7.
TEST(JobLogsTest, NumbersFarApartStateNoSquareOfWorkers) {
  const auto read = [](int pods, int step) {
    JobLogs logs(SignatureTable::BuiltIn());
    for (int i = 0; i < pods; ++i) {
      LogName name;
      name.path = "all.log";
      name.pod = absl::StrCat("train-slice-", i, "-", i * step);
      logs.Take(logs.Add(name), "completed step: 1", std::nullopt);
    }
    return logs.Finish(nullptr).capture.header.expected_workers;
  };
  EXPECT_THAT(read(1'000, 1), SizeIs(1'000));
  EXPECT_THAT(read(8, 1), SizeIs(64));
  EXPECT_THAT(read(100, 2), SizeIs(100 * 199));  // a task of each slice is a plausible sample
}

}  // namespace
}  // namespace rapideye::logs
