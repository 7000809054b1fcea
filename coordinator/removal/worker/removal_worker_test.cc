#include "coordinator/removal/worker/removal_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/records/record_json.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/removal/hooks/incident_event.h"
#include "coordinator/removal/journal.h"
#include "coordinator/removal/worker/removal_record.h"
#include "coordinator/store/incident_notes.h"
#include "proto/common/file/file_lock.h"
#include "tests/fleet/incidents.h"
#include "tests/support/faulty_disk.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kHook[] = "/hooks/drain";
constexpr char kDigest[] =
    R"({"schemaVersion": 1, "job": "llama", "cause": "BAD_TPU_CHIP", "detail": "TENSOR_CORE"})";

// Thread-safe.
class WatchedHooks final : public HookRunner {
 public:
  HookResult Run(const HookCall& call) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
    changed_.notify_all();
    return {.ok = true, .outcome = "exit status 0", .output = "drained"};
  }
  // Waits until so many hooks have run.
  std::vector<HookCall> Await(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_.size() >= count; });
    return calls_;
  }
  std::vector<HookCall> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<HookCall> calls_;
};

class RemovalWorkerTest : public ::testing::Test {
 protected:
  RemovalWorkerTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-worker-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~RemovalWorkerTest() override {
    std::error_code error;  // threads left behind may still write there
    fs::remove_all(root_, error);
  }

  std::unique_ptr<RemovalWorker> Open(RemovalMode mode, const std::string& fleet_db = "",
                                      Disk& disk = RealDisk()) {
    RemovalWorker::Settings settings;
    settings.removal.policy.mode = mode;
    settings.removal.fleet_db = fleet_db;
    settings.removal.hooks = {kHook};
    settings.state_dir = root_;
    settings.disk = &disk;
    settings.runner = hooks_;
    return std::make_unique<RemovalWorker>(std::move(settings));
  }
  static std::string IdOf(int number) {
    return absl::StrCat("20261120T12441", number, "Z-5dc4d1c8");
  }
  std::string FileOf(int number, const char* file) const {
    return absl::StrCat(root_, "/incidents/", IdOf(number), "/", file);
  }
  // The same bad chip fails in another place each time.
  IncidentRecord Record(int number) {
    return testing::Incident(IdOf(number), absl::Now(), {testing::BadChip("a", number)});
  }
  void Write(int number) {
    fs::create_directories(fs::path(FileOf(number, "x")).parent_path());
    std::ofstream(FileOf(number, "digest.json")) << kDigest;
  }
  void WriteRevision(int number, int64_t revision, const std::string& cause = "BAD_TPU_CHIP") {
    nlohmann::json digest = nlohmann::json::parse(kDigest);
    digest["revision"] = revision;
    digest["cause"] = cause;
    std::ofstream(FileOf(number, "digest.json")) << digest;
  }
  void EndOnDisk(int number) {
    const absl::Time then = absl::FromUnixSeconds(1'795'178'659 + 125);
    std::ofstream(FileOf(number, "ended.json")) << EndText({.id = {}, .ended = then});
  }
  // An incident that the worker is told of, and that is then written to disk.
  void Happen(RemovalWorker& worker, int number) {
    worker.Expect(Record(number));
    Write(number);
    worker.Arrived()(IdOf(number));
  }
  nlohmann::json RecordOf(int number) {
    std::ifstream file(FileOf(number, "hooks.json"));
    return nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  }

  std::string root_;
  const std::shared_ptr<WatchedHooks> hooks_ = std::make_shared<WatchedHooks>();
};

TEST_F(RemovalWorkerTest, InADryRunTheHooksAreToldThatNothingIsRemoved) {
  auto worker = Open(RemovalMode::kDryRun);
  Happen(*worker, 1);
  const std::vector<HookCall> calls = hooks_->Await(1);
  EXPECT_EQ(calls[0].hook, kHook);
  EXPECT_EQ(calls[0].finding.incident, IdOf(1));
  EXPECT_EQ(calls[0].finding.host, "");
  EXPECT_EQ(calls[0].finding.cause, "BAD_TPU_CHIP");
  EXPECT_EQ(calls[0].digest, kDigest);
  worker.reset();
  const nlohmann::json record = RecordOf(1);
  EXPECT_EQ(record["mode"], "dry-run");
  EXPECT_EQ(record["decisions"][0]["action"], "watch");
  EXPECT_EQ(record["hooks"][0]["state"], "done");
  EXPECT_EQ(record["hooks"][0]["output"], "drained");
  EXPECT_THAT(hooks_->calls(), SizeIs(1));
}

TEST_F(RemovalWorkerTest, AnEnforcedRemovalRunsTheHooksOnceAndWithTheHost) {
  auto worker = Open(RemovalMode::kEnforce, absl::StrCat("sqlite:", root_, "/fleet.db"));
  for (int i = 1; i <= 4; ++i) {
    Happen(*worker, i);
    hooks_->Await(static_cast<size_t>(i));
  }
  worker.reset();
  const std::vector<HookCall> calls = hooks_->calls();
  ASSERT_THAT(calls, SizeIs(4));
  EXPECT_EQ(calls[2].finding.host, "");
  EXPECT_EQ(calls[3].finding.host, "host-of-a");
  EXPECT_EQ(calls[3].finding.incident, IdOf(4));
  const nlohmann::json record = RecordOf(4);
  EXPECT_EQ(record["decisions"][0]["action"], "remove");
  EXPECT_EQ(record["hooks"][0]["machine"], "hardware:a");
}

TEST_F(RemovalWorkerTest, ARemovalThatDoesNotBeginKeepsNobodyFromBeingTold) {
  const std::string url = absl::StrCat("sqlite:", root_, "/fleet.db");
  auto worker = Open(RemovalMode::kEnforce, url);
  Happen(*worker, 1);
  hooks_->Await(1);
  const auto database = OpenDatabase(url).value();
  Task removal;
  removal.incident = IdOf(2);
  removal.subject = "hardware:b";
  removal.hook = kHook;
  removal.not_before = absl::Now() + absl::Hours(1);
  removal.expires = removal.not_before;
  ASSERT_TRUE(WithLock(*database, [&] {
                return Journal(*database, "", {}).Add(removal, absl::Now());
              }).ok());
  Happen(*worker, 2);
  EXPECT_EQ(hooks_->Await(2)[1].finding.incident, IdOf(2));
}

TEST_F(RemovalWorkerTest, AnIncidentThatIsNotOnDiskMovesNothing) {
  auto worker = Open(RemovalMode::kOff);
  worker->Expect(Record(1));
  Happen(*worker, 2);
  EXPECT_EQ(hooks_->Await(1)[0].finding.incident, IdOf(2));
  worker.reset();
  EXPECT_THAT(hooks_->calls(), SizeIs(1));
}

TEST_F(RemovalWorkerTest, WhatWasOnDiskWhenItsCoordinatorDiedIsTakenUp) {
  Open(RemovalMode::kDryRun).reset();
  Write(1);
  fs::copy_file(absl::StrCat(getenv("RAPIDEYE_TEST_DATA"), "/bad-tc.jsonl"),
                FileOf(1, "capture.jsonl.gz"));
  auto worker = Open(RemovalMode::kDryRun);
  EXPECT_EQ(hooks_->Await(1)[0].finding.incident, IdOf(1));
  worker.reset();
  // The hooks run only once.
  Open(RemovalMode::kDryRun).reset();
  EXPECT_THAT(hooks_->calls(), SizeIs(1));
}

// The capture lacks the hardware of a worker that sent no snapshot; the record has it, even if the
// coordinator was killed before it had ever opened its journal.
TEST_F(RemovalWorkerTest, WhatItsCoordinatorKnewBeyondTheCaptureSurvivesItsDeath) {
  Write(1);
  IncidentRecord record = Record(1);
  record.culprits[0].host = "lost";
  std::ofstream(FileOf(1, "record.json")) << RenderRecord(record);
  auto worker = Open(RemovalMode::kDryRun);
  EXPECT_EQ(hooks_->Await(1)[0].finding.incident, IdOf(1));
  worker.reset();
  const auto history = OpenDatabase(absl::StrCat("sqlite:", root_, "/fleet.db")).value();
  const auto finding = History(*history).FindingOf(IdOf(1), "hardware:a");
  ASSERT_TRUE(finding.ok()) << finding.status();
  EXPECT_EQ(finding->host, "lost");
}

TEST_F(RemovalWorkerTest, ARecordOfAnotherIncidentIsNotBelieved) {
  Open(RemovalMode::kDryRun).reset();
  Write(1);
  fs::copy_file(absl::StrCat(getenv("RAPIDEYE_TEST_DATA"), "/bad-tc.jsonl"),
                FileOf(1, "capture.jsonl.gz"));
  std::ofstream(FileOf(1, "record.json")) << RenderRecord(Record(2));
  auto worker = Open(RemovalMode::kDryRun);
  EXPECT_EQ(hooks_->Await(1)[0].finding.incident, IdOf(1));
  worker.reset();
  const auto history = OpenDatabase(absl::StrCat("sqlite:", root_, "/fleet.db")).value();
  EXPECT_FALSE(History(*history).FindingOf(IdOf(1), "hardware:a").ok());
  EXPECT_FALSE(History(*history).FindingOf(IdOf(2), "hardware:a").ok());
}

TEST_F(RemovalWorkerTest, WhatAnotherUserMayHaveWrittenIsNotTakenUp) {
  Open(RemovalMode::kDryRun).reset();
  for (int number = 1; number <= 4; ++number) {
    Write(number);
    fs::copy_file(absl::StrCat(getenv("RAPIDEYE_TEST_DATA"), "/bad-tc.jsonl"),
                  FileOf(number, "capture.jsonl.gz"));
  }
  // Of these four equal incidents only 2 is taken up.
  fs::permissions(FileOf(1, "capture.jsonl.gz"), fs::perms::others_write, fs::perm_options::add);
  fs::permissions(fs::path(FileOf(3, "x")).parent_path(), fs::perms::group_write,
                  fs::perm_options::add);
  fs::remove(FileOf(4, "capture.jsonl.gz"));
  fs::create_symlink(FileOf(2, "capture.jsonl.gz"), FileOf(4, "capture.jsonl.gz"));
  auto worker = Open(RemovalMode::kDryRun);
  EXPECT_EQ(hooks_->Await(1)[0].finding.incident, IdOf(2));
  worker.reset();
  EXPECT_THAT(hooks_->calls(), SizeIs(1));
  for (const int number : {1, 3, 4}) EXPECT_FALSE(fs::exists(FileOf(number, "hooks.json")));
}

// The later digest states another cause: no hook has acted on that yet.
TEST_F(RemovalWorkerTest, ALaterDigestOfAnIncidentRunsTheHooksAgain) {
  auto worker = Open(RemovalMode::kDryRun);
  worker->Expect(testing::Incident(IdOf(1), absl::Now(), {}));
  Write(1);
  worker->Arrived()(IdOf(1));
  hooks_->Await(1);
  const std::string key = IncidentKey(IdOf(1), 2);
  worker->Expect(testing::Incident(key, absl::Now(), {testing::BadChip("a", 1)}));
  WriteRevision(1, 2);
  worker->Arrived()(key);
  const std::vector<HookCall> calls = hooks_->Await(2);
  EXPECT_EQ(calls[0].finding.incident, IdOf(1));
  EXPECT_EQ(calls[1].finding.incident, key);
  EXPECT_THAT(calls[1].digest, HasSubstr("\"revision\""));
  worker.reset();
  const nlohmann::json record = RecordOf(1);
  EXPECT_EQ(record["incident"], IdOf(1));
  EXPECT_THAT(record["decisions"], SizeIs(1));
  ASSERT_THAT(record["hooks"], SizeIs(2));
  EXPECT_FALSE(record["hooks"][0].contains("revision"));
  EXPECT_EQ(record["hooks"][1]["revision"], 2);
  EXPECT_EQ(record["hooks"][1]["state"], "done");
  // The hooks run only once.
  Open(RemovalMode::kDryRun).reset();
  EXPECT_THAT(hooks_->calls(), SizeIs(2));
}

// Evidence that came too late for the first digest tells hooks nothing to act on.
TEST_F(RemovalWorkerTest, ALaterDigestThatIsStillUnknownRunsNoHook) {
  auto worker = Open(RemovalMode::kDryRun);
  worker->Expect(testing::Incident(IdOf(1), absl::Now(), {}));
  Write(1);
  WriteRevision(1, 1, "UNKNOWN");
  worker->Arrived()(IdOf(1));
  hooks_->Await(1);
  const std::string key = IncidentKey(IdOf(1), 2);
  worker->Expect(testing::Incident(key, absl::Now(), {}));
  WriteRevision(1, 2, "UNKNOWN");
  worker->Arrived()(key);
  EndOnDisk(1);
  worker->Ended()(IdOf(1));
  EXPECT_EQ(hooks_->Await(2)[1].finding.incident, EndKey(key));
  worker.reset();
  EXPECT_EQ(RecordOf(1)["hooks"][1]["outcome"], "not run: cause and culprits are as before");
}

TEST_F(RemovalWorkerTest, ALaterDigestThatWasOnDiskWhenItsCoordinatorDiedIsTakenUp) {
  auto worker = Open(RemovalMode::kDryRun);
  worker->Expect(testing::Incident(IdOf(1), absl::Now(), {}));
  Write(1);
  worker->Arrived()(IdOf(1));
  hooks_->Await(1);
  worker.reset();
  WriteRevision(1, 2);
  fs::copy_file(absl::StrCat(getenv("RAPIDEYE_TEST_DATA"), "/bad-tc.jsonl"),
                FileOf(1, "capture.jsonl.gz"));
  worker = Open(RemovalMode::kDryRun);
  EXPECT_EQ(hooks_->Await(2)[1].finding.incident, IncidentKey(IdOf(1), 2));
  worker.reset();
  EXPECT_THAT(RecordOf(1)["hooks"], SizeIs(2));
}

TEST_F(RemovalWorkerTest, TheEndOfAnIncidentFollowsItsLastDigest) {
  auto worker = Open(RemovalMode::kDryRun);
  Happen(*worker, 1);
  hooks_->Await(1);
  const std::string key = IncidentKey(IdOf(1), 2);
  worker->Expect(testing::Incident(key, absl::Now(), {}));
  WriteRevision(1, 2);
  worker->Arrived()(key);
  EndOnDisk(1);
  worker->Ended()(IdOf(1));
  const std::vector<HookCall> calls = hooks_->Await(3);
  EXPECT_EQ(calls[1].finding.incident, key);
  EXPECT_EQ(calls[2].finding.incident, EndKey(key));
  EXPECT_EQ(calls[2].finding.host, "");
  EXPECT_EQ(calls[2].ended_at, "2026-11-20T12:46:24+00:00");
  EXPECT_THAT(calls[2].digest, HasSubstr("BAD_TPU_CHIP"));
  worker.reset();
  const nlohmann::json record = RecordOf(1);
  ASSERT_THAT(record["hooks"], SizeIs(3));
  EXPECT_EQ(record["hooks"][0]["event"], "opened");
  EXPECT_EQ(record["hooks"][1]["event"], "changed");
  EXPECT_EQ(record["hooks"][2]["event"], "recovered");
  EXPECT_EQ(record["hooks"][2]["state"], "done");
  // The hooks run only once.
  Open(RemovalMode::kDryRun).reset();
  EXPECT_THAT(hooks_->calls(), SizeIs(3));
}

// The coordinator died after the end was on disk, and before the hooks ran.
TEST_F(RemovalWorkerTest, AnEndThatNoHookHasHeardOfIsSaidByTheNextCoordinator) {
  auto worker = Open(RemovalMode::kDryRun);
  Happen(*worker, 1);
  Happen(*worker, 2);
  hooks_->Await(2);
  worker.reset();
  EndOnDisk(1);
  worker = Open(RemovalMode::kDryRun);
  EXPECT_EQ(hooks_->Await(3)[2].finding.incident, EndKey(IdOf(1)));
  worker.reset();
  EXPECT_EQ(RecordOf(1)["hooks"][1]["event"], "recovered");
  Open(RemovalMode::kDryRun).reset();
  EXPECT_THAT(hooks_->calls(), SizeIs(3));
}

// An enforced removal ran the hook for its host; the recovery runs the hook without a host.
TEST_F(RemovalWorkerTest, NothingIsRemovedForARecovery) {
  auto worker = Open(RemovalMode::kEnforce, absl::StrCat("sqlite:", root_, "/fleet.db"));
  for (int i = 1; i <= 4; ++i) {
    Happen(*worker, i);
    hooks_->Await(static_cast<size_t>(i));
  }
  EXPECT_EQ(hooks_->calls()[3].finding.host, "host-of-a");
  EndOnDisk(4);
  worker->Ended()(IdOf(4));
  const HookCall end = hooks_->Await(5)[4];
  EXPECT_EQ(end.finding.incident, EndKey(IdOf(4)));
  EXPECT_EQ(end.finding.host, "");
}

TEST_F(RemovalWorkerTest, WhatIsAcknowledgedIsNotSaidAgainButItsEnd) {
  auto worker = Open(RemovalMode::kDryRun);
  Happen(*worker, 1);
  hooks_->Await(1);
  std::ofstream(FileOf(1, "acknowledged.json"))
      << AcknowledgementText({.at = {}, .reason = "", .by = "ann"});
  const std::string key = IncidentKey(IdOf(1), 2);
  worker->Expect(testing::Incident(key, absl::Now(), {}));
  WriteRevision(1, 2);
  worker->Arrived()(key);
  EndOnDisk(1);
  worker->Ended()(IdOf(1));
  EXPECT_EQ(hooks_->Await(2)[1].finding.incident, EndKey(key));
  worker.reset();
  EXPECT_EQ(RecordOf(1)["hooks"][1]["outcome"], "not run: the incident was acknowledged by ann");
}

// The process died after the decision, and before the incident's record had it.
TEST_F(RemovalWorkerTest, ARecordThatACrashLeftBehindTheHistoryIsBroughtUpToDate) {
  auto worker = Open(RemovalMode::kDryRun);
  Happen(*worker, 1);
  hooks_->Await(1);
  worker.reset();
  nlohmann::json stale = RecordOf(1);
  EXPECT_EQ(stale["published"], 1);
  stale["decisions"] = nlohmann::json::array();
  stale["hooks"][0]["state"] = "acting";
  stale["hooks"][0]["expires"] = absl::FormatTime(absl::Now() + absl::Hours(1));
  std::ofstream(FileOf(1, "hooks.json")) << stale;
  worker = Open(RemovalMode::kDryRun);
  // The process may have died before the hook was done.
  EXPECT_EQ(hooks_->Await(2)[1].attempt, 2);
  worker.reset();
  EXPECT_EQ(RecordOf(1)["hooks"][0]["state"], "done");
  EXPECT_EQ(RecordOf(1)["decisions"][0]["action"], "watch");
  Open(RemovalMode::kDryRun).reset();
  EXPECT_THAT(hooks_->calls(), SizeIs(2));
}

// The history was down until the process ended; the next one delivers, without another run.
TEST_F(RemovalWorkerTest, WhatTheHistoryMissedIsPublishedByTheNextProcess) {
  const std::string url = absl::StrCat("sqlite:", root_, "/elsewhere/fleet.db");
  auto worker = Open(RemovalMode::kOff, url);
  Happen(*worker, 1);
  std::ofstream(FileOf(1, "record.json")) << RenderRecord(Record(1));
  hooks_->Await(1);
  worker.reset();
  EXPECT_EQ(RecordOf(1)["revision"], 1);
  EXPECT_EQ(RecordOf(1)["published"], 0);
  fs::create_directory(root_ + "/elsewhere");
  Open(RemovalMode::kOff, url).reset();
  EXPECT_EQ(RecordOf(1)["published"], 1);
  const auto history = OpenDatabase(url).value();
  EXPECT_TRUE(History(*history).FindingOf(IdOf(1), "hardware:a").ok());
  EXPECT_EQ(History(*history).DigestOf(IdOf(1)).value(), kDigest);
  EXPECT_THAT(hooks_->calls(), SizeIs(1));
}

TEST_F(RemovalWorkerTest, HooksThatAnotherUserMayHaveWrittenDoNotRun) {
  Open(RemovalMode::kDryRun).reset();
  Write(1);
  RemovalRecord record{.incident = IdOf(1), .revision = 1, .published = 1};
  Task& task = record.hooks.emplace_back();
  task.incident = IdOf(1);
  task.hook = kHook;
  task.state = "due";
  task.not_before = absl::Now();
  task.expires = absl::Now() + absl::Hours(1);
  std::ofstream(FileOf(1, "hooks.json")) << RenderRemovalRecord(record);
  fs::permissions(FileOf(1, "hooks.json"), fs::perms::others_write, fs::perm_options::add);
  auto worker = Open(RemovalMode::kDryRun);
  Happen(*worker, 2);
  hooks_->Await(1);
  worker.reset();
  EXPECT_THAT(hooks_->calls(), SizeIs(1));
  fs::permissions(FileOf(1, "hooks.json"), fs::perms::others_write, fs::perm_options::remove);
  worker = Open(RemovalMode::kDryRun);
  EXPECT_EQ(hooks_->Await(2)[1].finding.incident, IdOf(1));
}

// No worker has named the job yet, and perhaps none ever comes back.
TEST_F(RemovalWorkerTest, WhatWasLeftIsTakenUpAlsoWithASharedHistory) {
  const std::string url = absl::StrCat("sqlite:", root_, "/shared.db");
  Open(RemovalMode::kDryRun, url).reset();
  Write(1);
  fs::copy_file(absl::StrCat(getenv("RAPIDEYE_TEST_DATA"), "/bad-tc.jsonl"),
                FileOf(1, "capture.jsonl.gz"));
  const auto worker = Open(RemovalMode::kDryRun, url);
  EXPECT_EQ(hooks_->Await(1)[0].finding.incident, IdOf(1));
}

// The old coordinator is half dead, the new one already there.
TEST_F(RemovalWorkerTest, OfTwoOnOneDirectoryTheSecondWaitsUntilItIsAlone) {
  auto old = file::FileLock::Take(root_ + "/journal.lock");
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(file::FileLock::Take(root_ + "/journal.lock").status().code(),
            absl::StatusCode::kAlreadyExists);
  auto worker = Open(RemovalMode::kDryRun);
  Happen(*worker, 1);
  worker.reset();
  EXPECT_FALSE(fs::exists(FileOf(1, "hooks.json")));
  fs::copy_file(absl::StrCat(getenv("RAPIDEYE_TEST_DATA"), "/bad-tc.jsonl"),
                FileOf(1, "capture.jsonl.gz"));
  worker = Open(RemovalMode::kDryRun);
  {
    const file::FileLock released = *std::move(old);
  }
  EXPECT_EQ(hooks_->Await(1)[0].finding.incident, IdOf(1));
  worker.reset();
  EXPECT_TRUE(fs::exists(FileOf(1, "hooks.json")));
  EXPECT_THAT(hooks_->calls(), SizeIs(1));
}

TEST_F(RemovalWorkerTest, AStateDirectoryMayPassToAnotherJob) {
  const std::string url = absl::StrCat("sqlite:", root_, "/shared.db");
  Write(1);  // of job "llama"
  auto worker = Open(RemovalMode::kDryRun, url);
  IncidentRecord incident = Record(2);
  incident.job = "gemma";
  worker->Expect(incident);
  Write(2);
  worker->Arrived()(IdOf(2));
  hooks_->Await(1);
  worker.reset();
  EXPECT_EQ(RecordOf(2)["decisions"][0]["action"], "watch");
}

TEST_F(RemovalWorkerTest, IncidentsOlderThanAllHooksAreLeftAlone) {
  Write(1);
  Open(RemovalMode::kDryRun).reset();
  Open(RemovalMode::kDryRun).reset();
  EXPECT_THAT(hooks_->calls(), IsEmpty());
}

TEST_F(RemovalWorkerTest, WhileTheHistoryIsDownDecisionsWaitAndNothingIsLost) {
  const std::string url = absl::StrCat("sqlite:", root_, "/elsewhere/fleet.db");
  auto worker = Open(RemovalMode::kDryRun, url);
  Happen(*worker, 1);
  std::ofstream(FileOf(1, "record.json")) << RenderRecord(Record(1));
  worker.reset();
  EXPECT_FALSE(fs::exists(root_ + "/elsewhere"));
  fs::create_directory(root_ + "/elsewhere");
  worker = Open(RemovalMode::kDryRun, url);
  Happen(*worker, 2);
  hooks_->Await(2);
  worker.reset();
  const auto database = OpenDatabase(url).value();
  EXPECT_TRUE(
      History(*database).IsDecided(IdOf(1), RemovalMode::kDryRun, absl::InfinitePast()).value());
  EXPECT_TRUE(
      History(*database).IsDecided(IdOf(2), RemovalMode::kDryRun, absl::InfinitePast()).value());
}

// The state directory of version 0.1, whose journal held hooks, and incidents for the history.
class TakeOverTest : public RemovalWorkerTest {
 protected:
  void LayOut() {
    fs::remove_all(root_);
    for (int number = 1; number <= 4; ++number) {
      Write(number);
      fs::copy_file(absl::StrCat(getenv("RAPIDEYE_TEST_DATA"), "/bad-tc.jsonl"),
                    FileOf(number, "capture.jsonl.gz"));
    }
    const auto journal = OpenDatabase(absl::StrCat("sqlite:", root_, "/journal.db")).value();
    ASSERT_TRUE(Migrate(*journal, FleetMigrations()).ok());
    AddTask(*journal, 1, true);
    Copy(1, "done");
    AddTask(*journal, 4, true);
    Copy(4, "due");  // it was killed before the last copy
    AddTask(*journal, 2, false);
    Copy(2, "due");
    AddTask(*journal, 3, false);  // it was killed before the first copy
    // Only the journal knows the hardware of a worker that sent no snapshot.
    for (const int number : {2, 3}) {
      IncidentRecord incident = Record(number);
      incident.culprits[0].host = "lost";
      ASSERT_TRUE(History(*journal).Record(incident, absl::InfiniteFuture()).ok());
    }
  }
  void AddTask(Database& database, int number, bool done) {
    Task task;
    task.incident = IdOf(number);
    task.hook = kHook;
    task.not_before = absl::Now();
    task.expires = absl::Now() + absl::Hours(6);
    Journal journal(database, "coordinator", {kHook});
    ASSERT_TRUE(WithLock(database, [&] { return journal.Add(task, absl::Now()); }).ok());
    if (!done) return;
    const auto claimed =
        WithLock(database, [&] { return journal.Claim(absl::Now(), absl::Minutes(1)); });
    ASSERT_TRUE(claimed.ok() && claimed->has_value());
    ASSERT_TRUE(
        journal
            .Finish(**claimed, {.ok = true, .outcome = "exit status 0", .output = ""}, absl::Now())
            .ok());
  }
  void Copy(int number, const char* state) {
    const nlohmann::json hook = {
        {"hook", kHook}, {"state", state}, {"attempts", 0}, {"outcome", ""}, {"output", ""}};
    const nlohmann::json decision = {{"host", "h"},
                                     {"machine", "m"},
                                     {"action", "watch"},
                                     {"rule", "repetition"},
                                     {"reason", "once"}};
    const nlohmann::json copy = {{"incident", IdOf(number)},
                                 {"mode", "dry-run"},
                                 {"decisions", nlohmann::json::array({decision})},
                                 {"hooks", nlohmann::json::array({hook})}};
    std::ofstream(FileOf(number, "hooks.json")) << copy;
  }
  bool Done(int number) {
    const nlohmann::json record = RecordOf(number);
    return record.contains("hooks") && record["hooks"].size() == 1 &&
           record["hooks"][0]["state"] == "done";
  }
  // The runs of the hook for an incident.
  std::ptrdiff_t Runs(int number) {
    const std::vector<HookCall> calls = hooks_->calls();
    return std::count_if(calls.begin(), calls.end(), [&](const HookCall& call) {
      EXPECT_EQ(call.finding.host, "");
      return call.finding.incident == IdOf(number);
    });
  }
  void ExpectTakenOver() {
    EXPECT_FALSE(fs::exists(root_ + "/journal.db"));
    EXPECT_TRUE(fs::exists(root_ + "/journal.db.taken-over"));
    const auto database = OpenDatabase(absl::StrCat("sqlite:", root_, "/fleet.db")).value();
    for (const int number : {2, 3}) {
      const auto finding = History(*database).FindingOf(IdOf(number), "hardware:a");
      ASSERT_TRUE(finding.ok()) << finding.status();
      EXPECT_EQ(finding->host, "lost");
    }
    for (const int number : {1, 4}) {
      EXPECT_FALSE(History(*database).FindingOf(IdOf(number), "hardware:a").ok());
    }
  }
};

TEST_F(TakeOverTest, WhatVersion01LeftIsFinished) {
  LayOut();
  auto worker = Open(RemovalMode::kDryRun);
  hooks_->Await(2);
  worker.reset();
  ExpectTakenOver();
  for (int number = 1; number <= 4; ++number) EXPECT_TRUE(Done(number)) << number;
  EXPECT_EQ(RecordOf(2)["decisions"][0]["action"], "watch");
  Open(RemovalMode::kDryRun).reset();
  EXPECT_EQ(Runs(1), 0);
  EXPECT_EQ(Runs(2), 1);
  EXPECT_EQ(Runs(3), 1);
  EXPECT_EQ(Runs(4), 0);
}

// The process dies after any of its changes to the disk.
TEST_F(TakeOverTest, WhereverItDiesTheNextProcessGoesOn) {
  bool finished = false;
  int steps = 0;
  for (; !finished; ++steps) {
    SCOPED_TRACE(absl::StrCat("died after ", steps, " changes"));
    ASSERT_LT(steps, 100);
    LayOut();
    const std::vector<std::ptrdiff_t> before = {0, Runs(1), Runs(2), Runs(3), Runs(4)};
    {
      FaultyDisk disk;
      disk.RefuseAfter(steps, absl::DataLossError("dead"));
      auto worker = Open(RemovalMode::kDryRun, "", disk);
      while (!disk.Refused() && !(Done(2) && Done(3))) std::this_thread::yield();
      worker.reset();
      finished = !disk.Refused();
    }
    auto worker = Open(RemovalMode::kDryRun);
    while (!(Done(2) && Done(3) && Done(4))) std::this_thread::yield();
    worker.reset();
    ExpectTakenOver();
    EXPECT_TRUE(Done(1));
    EXPECT_EQ(Runs(1), before[1]);
    EXPECT_EQ(Runs(4), before[4]);
    // A hook runs again only if the process died between its end and its record.
    for (const size_t number : {2, 3}) {
      EXPECT_GE(Runs(static_cast<int>(number)), before[number] + 1);
      EXPECT_LE(Runs(static_cast<int>(number)), before[number] + 2);
    }
  }
  EXPECT_GT(steps, 32);
}

TEST_F(RemovalWorkerTest, ADiskThatHangsDoesNotHoldUpTheEnd) {
  // Static: the thread that hangs in this disk outlives the test, and hangs until the process ends.
  static auto& disk = *new FaultyDisk;
  RemovalWorker::Settings settings;
  settings.removal.hooks = {kHook};
  settings.state_dir = root_;
  settings.disk = &disk;
  settings.runner = hooks_;
  auto worker = std::make_unique<RemovalWorker>(std::move(settings));
  disk.Hang();
  Happen(*worker, 1);
  disk.AwaitHanging();
  worker.reset();
}

}  // namespace
}  // namespace rapideye::coordinator
