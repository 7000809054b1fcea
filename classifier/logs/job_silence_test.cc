// Verdicts on jobs of which some workers say nothing more, or nothing at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/job_log_texts.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JobSilenceTest, WhoFellSilentWhileConnectionsClosedHasExited) {
  const Verdict verdict = Diagnose({Health(kClosed), Health(kClosed), Health(), Health(kClosed)});
  EXPECT_EQ(verdict.detail, Detail::kProcessExit);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  EXPECT_THAT(verdict.culprits.at(0).why, HasSubstr("after step 10"));
}

TEST(JobSilenceTest, OfTheSilentItIsTheOneThatDidNotWriteTheLastStepOfAllOthers) {
  const auto log = [](int step, const std::string& more = "") {
    return absl::StrCat(kHealth, "completed step: ", step, "\n", more);
  };
  const std::string closed = log(11, kClosed);
  EXPECT_THAT(Named(Diagnose({log(11), closed, kHealth, closed})), ElementsAre(2));
  // Each of them may be it, or has its lines still in a buffer.
  EXPECT_EQ(Diagnose({log(11), closed, log(11), closed}).cause, Cause::kUnknown);
  EXPECT_EQ(Diagnose({log(12), closed, kHealth, closed}).cause, Cause::kUnknown);
}

// The rest of a collective mixes up its messages. No line has a time.
TEST(JobSilenceTest, AMismatchOfCollectivesFollowsAKill) {
  const std::string mismatch = Health(
      "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n  what():  [pair.cc:"
      "459] op.preamble.length <= op.nbytes. 24 vs 4. Received data size doesn't match expected "
      "size. Is there a distributed collective mismatch in your code?\nAborted\n");
  EXPECT_EQ(Diagnose({Health(), mismatch, Health(), Health(kClosed)}).cause,
            Cause::kDifferentModule);
  const Verdict verdict = Diagnose({Health(), mismatch, Health("Killed\n"), Health(kClosed)});
  EXPECT_EQ(verdict.detail, Detail::kProcessExit);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
}

TEST(JobSilenceTest, WhomTheServiceMissesAndWhoIsSilentIsLost) {
  const std::string told = Health(kHeartbeat);
  const Verdict verdict = Diagnose({told, Health(), Health(), Health()});
  EXPECT_EQ(verdict.detail, Detail::kWorkerLost);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  // Its own complaint makes it a victim.
  EXPECT_EQ(Diagnose({told, Health(kClosed), Health(kClosed), Health(kClosed)}).cause,
            Cause::kUnknown);
  // A worker that hears that the service misses it is alive.
  EXPECT_EQ(Diagnose({told, told, told, told}).cause, Cause::kUnknown);
}

// A traceback that does not begin in the program itself may be one that somebody has logged. If the
// log ends with it, it has ended the process.
TEST(JobSilenceTest, WhoIsSilentBehindATracebackHasExited) {
  const auto raised = [](const std::string& line) {
    return Health(
        absl::StrCat("Traceback (most recent call last):\n  File \"/job/train.py\", line ",
                     "88, in step\n    loss = step(batch)\n", line, "\n"));
  };
  const std::string told = Health(kHeartbeat);
  const std::string waits = Health(kTimedOut);
  for (const std::string& others : {told, waits}) {
    const Verdict verdict =
        Diagnose({others, others, raised("ValueError: shapes do not match"), others});
    EXPECT_EQ(verdict.cause, Cause::kUnrecoverableError);
    EXPECT_EQ(verdict.detail, Detail::kProcessExit);
    EXPECT_THAT(Named(verdict), ElementsAre(2));
  }
  EXPECT_EQ(Diagnose({waits, waits, raised("TimeoutError: no answer"), waits}).detail,
            Detail::kProgramNotQueued);
  EXPECT_EQ(Diagnose({waits, waits, raised("ValueError: x") + "going on\n", waits}).detail,
            Detail::kProgramNotQueued);
}

TEST(JobSilenceTest, ASilentLeaderIsNamedByThoseWhoMissIt) {
  const Verdict verdict =
      Diagnose({Health(), Health(kLeaderGone), Health(kLeaderGone), Health(kLeaderGone)});
  EXPECT_EQ(verdict.detail, Detail::kProcessExit);
  EXPECT_THAT(Named(verdict), ElementsAre(0));
}

TEST(JobSilenceTest, ALeaderThatAnswersNoHeartbeatIsNamed) {
  const auto fatal = [](absl::string_view status, absl::string_view call) {
    return Health(absl::StrCat(
        "F1124 04:55:39.611064    2469 client.h:80] Terminating process because the JAX "
        "distributed service detected fatal errors. absl::Status: ",
        status, "\n\nRPC: /xla.coordination.CoordinationService/", call,
        "\n*** Check failure stack trace: ***\n"));
  };
  const std::string unanswered = fatal("DEADLINE_EXCEEDED: Deadline Exceeded", "Heartbeat");
  const Verdict frozen = Diagnose({Health(), unanswered, unanswered, unanswered});
  EXPECT_EQ(frozen.detail, Detail::kWorkerLost);
  EXPECT_THAT(Named(frozen), ElementsAre(0));
  // The service answered with an error of its own; or did not, since others had not registered.
  const std::string refused = fatal("ABORTED: task was restarted", "Heartbeat");
  EXPECT_THAT(Named(Diagnose({Health(), refused, refused, refused})), IsEmpty());
  const std::string waited = fatal("DEADLINE_EXCEEDED: Deadline Exceeded", "RegisterTask");
  EXPECT_THAT(Named(Diagnose({Health(), waited, waited, waited})), IsEmpty());
}

TEST(JobSilenceTest, WhoIsSilentWhileOthersTimeOutHasNotCome) {
  const Verdict verdict =
      Diagnose({Health(kTimedOut), Health(kTimedOut), Health(), Health(kTimedOut)});
  EXPECT_EQ(verdict.cause, Cause::kDataInputStall);
  EXPECT_EQ(verdict.detail, Detail::kProgramNotQueued);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
}

TEST(JobSilenceTest, WhoIsSilentWhileOthersWaitAtABarrierHasNotCome) {
  const auto raised = [](absl::string_view barrier) {
    return Health(
        absl::StrCat("2026-11-22 11:41:47,905 ERROR root: failed\n"
                     "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. ",
                     "Id: ", barrier,
                     ". This usually happens because a task triggered the barrier too early or too "
                     "slowly. # of tasks that reached the barrier: 3/4.\n"));
  };
  const std::string waits = raised("sync_global_devices:0::1");
  const Verdict verdict = Diagnose({waits, waits, Health(), waits});
  EXPECT_EQ(verdict.detail, Detail::kProgramNotQueued);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  // The end of the shutdown's barrier reaches those who have not come, too.
  const std::string shutdown = raised("Shutdown::0");
  EXPECT_THAT(Named(Diagnose({shutdown, shutdown, Health(), shutdown})), IsEmpty());
}

TEST(JobSilenceTest, NobodyIsNamedWhereAnyOfSeveralMayBeIt) {
  // All workers wait; half of the workers are silent; the log of one worker is missing.
  for (const auto& ranks : std::vector<std::vector<std::string>>{
           {Health(kTimedOut), Health(kTimedOut), Health(kTimedOut), Health(kTimedOut)},
           {Health(), Health(kTimedOut), Health(), Health(kTimedOut)},
           {Health(kTimedOut), Health(kTimedOut), "", Health(kTimedOut)}}) {
    const Verdict verdict = Diagnose(ranks);
    EXPECT_EQ(verdict.cause, Cause::kUnknown);
    EXPECT_THAT(verdict.culprits, IsEmpty());
    EXPECT_FALSE(verdict.lacking.empty());
    ASSERT_FALSE(verdict.evidence.empty());
    EXPECT_THAT(verdict.evidence.front().statement, HasSubstr("Timed out waiting"));
  }
}

TEST(JobSilenceTest, WhoNeverSpokeHasNotStarted) {
  const std::string failed =
      "2026-11-22 11:31:47,905 INFO jax._src.distributed: Connecting to JAX distributed service\n"
      "I1122 11:32:12.909401   25235 coordination_service_agent.cc:170] Coordination service agent "
      "failed to register with the leader. Error status: DEADLINE_EXCEEDED: Deadline Exceeded\n";
  const Verdict verdict = Diagnose({failed, failed, "", failed});
  EXPECT_EQ(verdict.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  // The logs do not tell whether there is a rank 3.
  EXPECT_THAT(Diagnose({failed, failed, failed}).culprits, IsEmpty());
}

TEST(JobSilenceTest, ASampleOfTheLogsNamesNobodyForSilence) {
  const auto diagnose = [](const char* path) {
    const JobEvidence evidence =
        Read({{"rank-0.log", Health()}, {path, Health(absl::StrCat(kLeaderGone, kClosed))}});
    return ClassifyLogs(evidence.capture, evidence.logs);
  };
  const Verdict sample = diagnose("rank-131.log");
  EXPECT_EQ(sample.cause, Cause::kUnknown);
  EXPECT_THAT(sample.culprits, IsEmpty());
  // With both numbers taken, these are all logs of the job.
  EXPECT_THAT(Named(diagnose("rank-1.log")), ElementsAre(0));
}

// A task that the service missed may live on: only its own log shows that it fell silent.
TEST(JobSilenceTest, ATaskWithoutALogIsAccusedWithLessConfidence) {
  const Verdict heard =
      Diagnose({Health(kHeartbeat), Health(kHeartbeat), Health(), Health(kHeartbeat)});
  const JobEvidence some = Read({{"rank-0.log", Health(kHeartbeat)},
                                 {"rank-1.log", Health(kHeartbeat)},
                                 {"rank-3.log", Health(kHeartbeat)}});
  const Verdict unheard = ClassifyLogs(some.capture, some.logs);
  EXPECT_THAT(Named(heard), ElementsAre(2));
  EXPECT_THAT(Named(unheard), ElementsAre(2));
  EXPECT_LT(unheard.confidence, heard.confidence);
}

TEST(JobSilenceTest, ATaskThatTheServiceMissesNeedsNoLog) {
  const Verdict verdict = Diagnose({Health(kHeartbeat)});
  EXPECT_EQ(verdict.cause, Cause::kUnrecoverableError);
  EXPECT_EQ(verdict.detail, Detail::kWorkerLost);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
}

TEST(JobSilenceTest, WhoHasNoLineInASharedLogHasNotCome) {
  const auto read = [](const std::vector<int>& ranks) {
    JobLogs logs(SignatureTable::BuiltIn());
    for (int rank : ranks) {
      LogName name;
      name.path = "train.log";
      name.label = rank;
      const size_t log = logs.Add(std::move(name));
      for (absl::string_view line : absl::StrSplit(kTimedOut, '\n', absl::SkipEmpty())) {
        logs.Take(log, line, std::nullopt);
      }
    }
    const JobEvidence evidence = logs.Finish(nullptr);
    return Named(ClassifyLogs(evidence.capture, evidence.logs));
  };
  EXPECT_THAT(read({1, 2, 3}), ElementsAre(0));
  EXPECT_THAT(read({1, 3}), IsEmpty());        // a sample, for all that is known
  EXPECT_THAT(read({0, 1, 2, 3}), IsEmpty());  // everybody waits
}

TEST(JobSilenceTest, WorkerZeroIsNotAtFaultWhereNobodyReachesItsService) {
  const std::string refused =
      "E0809 04:15:02.200000 1 client.cc:130] DEADLINE_EXCEEDED: Deadline Exceeded\n"
      "RPC: /tensorflow.CoordinationService/RegisterTask\n";
  EXPECT_THAT(Named(Diagnose({"INFO started\n", refused, refused, refused})), IsEmpty());
}

TEST(JobSilenceTest, AConnectionThatIsClosedAsWorkersJoinAccusesNobody) {
  const std::string starts = "Using distributed PyTorch with gloo backend\n";
  const std::string reset =
      starts +
      "Traceback (most recent call last):\n  File \"/job/mnist.py\", line 171, in <module>\n"
      "    main()\nRuntimeError: Connection reset by peer\n";
  EXPECT_THAT(Named(Diagnose({starts, reset})), IsEmpty());
  // A transport of collectives, and a job that has run, tell of the worker itself.
  const std::string pair =
      starts +
      "RuntimeError: [gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.2.3.4]\n";
  EXPECT_THAT(Named(Diagnose({starts, pair})), ElementsAre(0));
  EXPECT_THAT(Named(Diagnose({kHealth + starts, kHealth + reset})), ElementsAre(0));
}

// A log of the first worker is often all that people have: who came is not told by the lack of
// logs.
TEST(JobSilenceTest, OfWorkersWithoutLogsThoseHaveNotComeWhomTheServiceNames) {
  constexpr char kFailed[] =
      "process 0/64\n"
      "Stopping coordination service as cluster registration failed. This may be due to 1) some "
      "tasks crashed earlier before connecting\n"
      "Original error: DEADLINE_EXCEEDED: Barrier timed out. Id: "
      "[Init]Wait_for_all_tasks_to_register::0. This usually happens because a task triggered the "
      "barrier too early or too slowly.\n";
  const Verdict untold = Diagnose({kFailed});
  EXPECT_EQ(untold.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(untold), IsEmpty());
  const Verdict counted = Diagnose(
      {absl::StrCat(kFailed,
                    "# of tasks that reached the barrier: 60/64.\n"
                    "The first task at the barrier: /job:jax_worker/replica:0/task:0. Some timed "
                    "out task names:\n"
                    "/job:jax_worker/replica:0/task:9\n/job:jax_worker/replica:0/task:33\n\n")});
  EXPECT_EQ(counted.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(counted), ElementsAre(9, 33));
  const Verdict examples = Diagnose(
      {absl::StrCat("Waiting for 40/64 tasks to connect.\nExample stragglers:\n"
                    "/job:jax_worker/replica:0/task:5\n/job:jax_worker/replica:0/task:9\n\n",
                    kFailed)});
  EXPECT_EQ(examples.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(examples), ElementsAre(5, 9));
}

TEST(JobSilenceTest, AnEmptyLogDoesNotTellWhoseProcessHasNotCome) {
  static constexpr char kWaited[] =
      "F1129 09:23:07.103106   14342 client.h:80] Terminating process because the JAX distributed "
      "service detected fatal errors. absl::Status: DEADLINE_EXCEEDED: Deadline Exceeded\n\n"
      "RPC: /xla.coordination.CoordinationService/RegisterTask\n";
  const auto diagnose = [](const char* first, const char* second, const char* third) {
    const JobEvidence evidence = Read({{"rank-0.log", kWaited},
                                       {"rank-1.log", first},
                                       {"rank-2.log", second},
                                       {"rank-3.log", third}});
    return ClassifyLogs(evidence.capture, evidence.logs);
  };
  // All others waited for somebody.
  const Verdict one = diagnose(kWaited, kWaited, "");
  EXPECT_EQ(one.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(one), ElementsAre(3));
  // A process may wait, too, and say nothing yet.
  const Verdict two = diagnose("", "", kWaited);
  EXPECT_EQ(two.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(two), IsEmpty());
}

TEST(JobSilenceTest, InALogOfAllWhoHasNoLineHasNotComeHoweverManyTheyAre) {
  JobLogs logs(SignatureTable::BuiltIn());
  for (const int rank : {0, 1}) {
    LogName name;
    name.path = "job.log";
    name.label = rank;
    const size_t log = logs.Add(std::move(name));
    logs.Take(log, absl::StrCat("process ", rank, "/5"), std::nullopt);
    logs.Take(log, "Stopping coordination service as cluster registration failed.", std::nullopt);
  }
  const JobEvidence evidence = logs.Finish(nullptr);
  const Verdict verdict = ClassifyLogs(evidence.capture, evidence.logs);
  EXPECT_EQ(verdict.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(verdict), ElementsAre(2, 3, 4));
}

TEST(JobSilenceTest, AStatedSizeOfTheJobCountsHoweverFewTheLogs) {
  constexpr char kMissed[] =
      "DEADLINE_EXCEEDED: Barrier timed out. Id: save::12. # of tasks that reached the barrier: "
      "996/1000. The first task at the barrier: /job:jax_worker/replica:0/task:0. Some timed out "
      "task names:\n/job:jax_worker/replica:0/task:7\n/job:jax_worker/replica:0/task:640\n\n";
  EXPECT_THAT(Named(Diagnose({kMissed})), ElementsAre(7, 640));
}

}  // namespace
}  // namespace rapideye::logs
