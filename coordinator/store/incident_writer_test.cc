#include "coordinator/store/incident_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <vector>

#include "tests/support/faulty_disk.h"
#include "tests/support/scenario.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kIncidentId[] = "20261120T124419Z-5dc4d1c8";

// A worker whose runtime has vanished.
Conclude Hang() {
  Conclude conclude{.incident_id = kIncidentId,
                    .capture = {},
                    .detect_to_collect = absl::Milliseconds(300),
                    .collect = absl::Seconds(2),
                    .detection = absl::Seconds(10)};
  conclude.capture.header.job = "llama";
  conclude.capture.header.expected_workers = {{.id = {0, 0}, .host = "h0", .node = {}}};
  Snapshot snapshot;
  snapshot.worker = {0, 0};
  snapshot.host = "h0";
  snapshot.runtime.state = RuntimeState::kUnavailable;
  conclude.capture.snapshots.push_back(snapshot);
  return conclude;
}

class IncidentWriterTest : public ::testing::Test {
 protected:
  IncidentWriterTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-writer-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~IncidentWriterTest() override { fs::remove_all(root_); }

  // Returns the digest of a hang on this disk, as it reached the log.
  std::string Digest(Disk& disk, absl::Duration patience) {
    std::promise<std::string> digest;
    std::promise<IncidentConcluded> concluded;
    IncidentPipeline pipeline(
        IncidentStore(root_, disk),
        {.retention = {}, .pending = {}, .patience = patience, .wrote = nullptr});
    IncidentWriter writer(
        pipeline, {.disk_patience = patience,
                   .log_digest = [&](const std::string&, const std::string& text,
                                     const auto&) { digest.set_value(text); },
                   .classified = [this](Cause cause, absl::Duration) { cause_ = cause; },
                   .digested = [this](const WrittenDigest& digest) { written_ = digest; },
                   .concluded = [&](IncidentConcluded event) { concluded.set_value(event); }});
    writer.Post(Hang());
    const IncidentConcluded event = concluded.get_future().get();
    EXPECT_EQ(event.incident_id, kIncidentId);
    EXPECT_TRUE(event.hang);
    return digest.get_future().get();  // the digest came first
  }

  std::string root_;
  Cause cause_ = Cause::kNoHang;
  std::optional<WrittenDigest> written_;
};

TEST_F(IncidentWriterTest, StatesHowLongItTookOnceTheDigestIsInTheLog) {
  Digest(RealDisk(), absl::Seconds(30));
  ASSERT_TRUE(written_.has_value());
  EXPECT_EQ(written_->times.detection, absl::Seconds(10));
  EXPECT_EQ(written_->times.collection, absl::Milliseconds(2300));
  EXPECT_GT(written_->times.digest, absl::ZeroDuration());
  EXPECT_EQ(written_->incident_id, kIncidentId);
  EXPECT_EQ(written_->job, "llama");
  EXPECT_THAT(written_->text, HasSubstr("Full error digest:"));
  EXPECT_TRUE(written_->verdict.has_value());
}

TEST_F(IncidentWriterTest, AllFormsAreOnDiskBeforeTheDigestIsInTheLog) {
  EXPECT_THAT(Digest(RealDisk(), absl::Seconds(30)), HasSubstr("Full error digest:"));
  EXPECT_NE(cause_, Cause::kNoHang);
  for (const char* file : {"capture.jsonl.gz", "digest.json", "digest.txt", "digest.html"}) {
    EXPECT_GT(fs::file_size(root_ + "/incidents/" + kIncidentId + "/" + file), 0u) << file;
  }
}

TEST_F(IncidentWriterTest, AVerdictThatTakesTooLongDoesNotSilenceTheDigest) {
  std::promise<std::string> digest;
  std::promise<void> concluded;
  std::promise<void> never;
  const std::shared_future<void> end = never.get_future().share();
  IncidentPipeline pipeline(IncidentStore(root_, RealDisk()),
                            {.retention = {}, .pending = {}, .wrote = nullptr});
  IncidentWriter writer(pipeline, {.verdict_patience = absl::ZeroDuration(),
                                   .classify =
                                       [end](const Capture&) {
                                         end.wait();
                                         return Verdict();
                                       },
                                   .log_digest = [&](const std::string&, const std::string& text,
                                                     const auto&) { digest.set_value(text); },
                                   .classified = nullptr,
                                   .concluded = [&](IncidentConcluded) { concluded.set_value(); }});
  writer.Post(Hang());
  concluded.get_future().wait();
  EXPECT_THAT(digest.get_future().get(), HasSubstr("Full error digest:"));
  EXPECT_GT(fs::file_size(root_ + "/incidents/" + kIncidentId + "/capture.jsonl.gz"), 0u);
  never.set_value();
}

TEST_F(IncidentWriterTest, ARenderingThatTakesTooLongLeavesTheCauseAndItsCulprits) {
  std::promise<std::string> digest;
  std::promise<void> concluded;
  std::promise<void> never;
  const std::shared_future<void> end = never.get_future().share();
  IncidentPipeline pipeline(IncidentStore(root_, RealDisk()),
                            {.retention = {}, .pending = {}, .wrote = nullptr});
  IncidentWriter writer(pipeline,
                        {.render_patience = absl::ZeroDuration(),
                         .report =
                             [end](const Capture&, const Verdict&, const digest::ReportContext&) {
                               end.wait();
                               return digest::Report();
                             },
                         .log_digest = [&](const std::string&, const std::string& text,
                                           const auto&) { digest.set_value(text); },
                         .classified = nullptr,
                         .concluded = [&](IncidentConcluded) { concluded.set_value(); }});
  writer.Post(Hang());
  concluded.get_future().wait();
  const std::string text = digest.get_future().get();
  EXPECT_THAT(text, HasSubstr("Full error digest:"));
  EXPECT_THAT(text, HasSubstr("h0"));
  for (const char* file : {"capture.jsonl.gz", "digest.json", "digest.txt", "digest.html"}) {
    EXPECT_GT(fs::file_size(root_ + "/incidents/" + kIncidentId + "/" + file), 0u) << file;
  }
  never.set_value();
}

TEST_F(IncidentWriterTest, DiskThatRefusesDoesNotSilenceTheDigest) {
  FaultyDisk disk;
  disk.Refuse(absl::ResourceExhaustedError("No space left on device"));
  EXPECT_THAT(Digest(disk, absl::Seconds(30)), HasSubstr("Full error digest:"));
}

TEST_F(IncidentWriterTest, DiskThatHangsDoesNotSilenceTheDigest) {
  static FaultyDisk& disk = *new FaultyDisk;  // outlives the thread left behind in it
  disk.Hang();
  EXPECT_THAT(Digest(disk, absl::ZeroDuration()), HasSubstr("Full error digest:"));
  disk.Refuse(absl::UnavailableError("over"));
  disk.Release();
  disk.AwaitReleased();
}

// One worker runs another compilation than its peers.
Conclude Divergence() {
  classifier::testing::Scenario scenario({.slices = 1});
  scenario.RunOther(0, 2, "jit_step", "ee77");
  return {.incident_id = kIncidentId,
          .capture = scenario.capture,
          .detect_to_collect = {},
          .collect = {}};
}

TEST_F(IncidentWriterTest, DivergedProgramsAreComparedBeforeTheDigest) {
  std::promise<TextsWanted> wanted;
  std::promise<std::string> digest;
  IncidentPipeline pipeline(IncidentStore(root_, RealDisk()), {});
  IncidentWriter writer(
      pipeline, {.log_digest = [&](const std::string&, const std::string& text,
                                   const auto&) { digest.set_value(text); },
                 .classified = nullptr,
                 .want_texts = [&](TextsWanted texts) { wanted.set_value(std::move(texts)); },
                 .concluded = [](const IncidentConcluded&) {}});
  writer.Post(Divergence());
  const TextsWanted texts = wanted.get_future().get();
  EXPECT_EQ(texts.incident_id, kIncidentId);
  ASSERT_EQ(texts.sides.size(), 2u);
  TextsGathered gathered{.incident_id = "another", .sides = {}};
  writer.Post(gathered);  // the writer does not wait for these
  gathered.incident_id = kIncidentId;
  for (const ProgramSide& side : texts.sides) {
    gathered.sides.push_back({side, side.workers.front(), std::nullopt, "there is no dump"});
  }
  writer.Post(gathered);
  EXPECT_THAT(digest.get_future().get(), HasSubstr("there is no dump"));
}

TEST_F(IncidentWriterTest, TheEndWaitsForNoTexts) {
  std::string digest;
  std::promise<void> wanted;
  IncidentPipeline pipeline(IncidentStore(root_, RealDisk()), {});
  {
    IncidentWriter writer(pipeline, {.log_digest = [&](const std::string&, const std::string& text,
                                                       const auto&) { digest = text; },
                                     .classified = nullptr,
                                     .want_texts = [&](const TextsWanted&) { wanted.set_value(); },
                                     .concluded = [](const IncidentConcluded&) {}});
    writer.Post(Divergence());
    wanted.get_future().get();
  }
  EXPECT_THAT(digest, HasSubstr("Fingerprint mismatch"));
}

// All workers wait at the same place; or for a chip that is seen to compute.
Conclude Look(bool again, bool known) {
  classifier::testing::Scenario scenario;
  if (known) {
    scenario.Put(scenario.Tensor(0, 1, 2), 0, classifier::testing::kStep,
                 classifier::testing::kCompute);
  }
  return {.incident_id = kIncidentId,
          .capture = scenario.capture,
          .detect_to_collect = {},
          .collect = {},
          .again = again};
}

class FurtherLooksTest : public IncidentWriterTest {
 protected:
  // Starts a writer in another process of the coordinator, if there was one before.
  void Start() {
    writer_.reset();
    pipeline_.reset();
    pipeline_ = std::make_unique<IncidentPipeline>(
        IncidentStore(root_, RealDisk()),
        IncidentPipeline::Settings{
            .retention = {},
            .pending = {},
            .patience = absl::Seconds(30),
            .wrote = [this](const std::string& key, absl::Duration) { wrote_.push_back(key); }});
    writer_ = std::make_unique<IncidentWriter>(
        *pipeline_,
        IncidentWriter::Settings{
            .disk_patience = absl::Seconds(30),
            .log_digest = [this](const std::string&, const std::string& text,
                                 const auto&) { digests_.push_back(text); },
            .classified = nullptr,
            .found = [this](IncidentRecord record) { found_.push_back(std::move(record)); },
            .revision_on_disk = [](const std::string&) { return 4; },
            .concluded = [this](IncidentConcluded event) { concluded_.set_value(event); }});
  }
  IncidentConcluded Process(Conclude conclude) {
    concluded_ = std::promise<IncidentConcluded>();
    writer_->Post(std::move(conclude));
    return concluded_.get_future().get();
  }

  std::vector<std::string> wrote_;
  std::vector<std::string> digests_;
  std::vector<IncidentRecord> found_;
  std::promise<IncidentConcluded> concluded_;
  std::unique_ptr<IncidentPipeline> pipeline_;
  std::unique_ptr<IncidentWriter> writer_;
};

TEST_F(FurtherLooksTest, AVerdictThatIsStillUnknownChangesNothing) {
  Start();
  const IncidentConcluded first = Process(Look(false, false));
  EXPECT_TRUE(first.hang);
  EXPECT_TRUE(first.unknown);
  EXPECT_EQ(first.revision, 1);
  const IncidentConcluded second = Process(Look(true, false));
  EXPECT_TRUE(second.hang);
  EXPECT_TRUE(second.unknown);
  EXPECT_EQ(second.revision, 1);
  EXPECT_EQ(digests_.size(), 1u);
  EXPECT_EQ(found_.size(), 1u);
}

// A look that says UNKNOWN again, with stacks of these workers.
Conclude LookWithStacks(bool again, int workers) {
  Conclude look = Look(again, false);
  for (int i = 0; i < workers; ++i) {
    look.capture.snapshots[i].stacks = {{.thread = "worker", .frames = {"poll (libc.so)"}}};
  }
  return look;
}

TEST_F(FurtherLooksTest, StacksThatCameTooLateReviseADigestThatStaysUnknown) {
  Start();
  EXPECT_TRUE(Process(LookWithStacks(false, 1)).unknown);
  const IncidentConcluded second = Process(LookWithStacks(true, 3));
  EXPECT_TRUE(second.hang);
  EXPECT_TRUE(second.unknown);
  EXPECT_EQ(second.revision, 2);
  ASSERT_EQ(digests_.size(), 2u);
  EXPECT_THAT(digests_[1], HasSubstr("Revision: 2"));
  // As many as in the digest that is out, by now.
  EXPECT_EQ(Process(LookWithStacks(true, 3)).revision, 2);
  EXPECT_EQ(digests_.size(), 2u);
}

TEST_F(FurtherLooksTest, ALookThatHasLostEvidenceRevisesNothing) {
  Start();
  Process(Look(false, false));
  Conclude gone = LookWithStacks(true, 3);
  gone.capture.snapshots.pop_back();
  EXPECT_EQ(Process(std::move(gone)).revision, 1);
  Conclude aborted = LookWithStacks(true, 3);
  std::vector<Core>& cores = aborted.capture.snapshots[0].cores;
  // As many instructions are known as before.
  std::vector<Sequencer>& kept = cores[0].sequencers;
  kept.insert(kept.end(), cores.back().sequencers.begin(), cores.back().sequencers.end());
  cores.pop_back();
  EXPECT_EQ(Process(std::move(aborted)).revision, 1);
  Conclude nameless = LookWithStacks(true, 3);
  for (Core& core : nameless.capture.snapshots[0].cores) {
    for (Sequencer& sequencer : core.sequencers) sequencer.hlo.reset();
  }
  EXPECT_EQ(Process(std::move(nameless)).revision, 1);
  EXPECT_EQ(digests_.size(), 1u);
  EXPECT_EQ(Process(LookWithStacks(true, 3)).revision, 2);
}

// This process has not seen the evidence of the digest on disk, which may be more.
TEST_F(FurtherLooksTest, AnotherCoordinatorRevisesNoUnknownDigest) {
  Start();
  Process(Look(false, false));
  Start();
  EXPECT_EQ(Process(LookWithStacks(true, 3)).revision, 4);
  EXPECT_EQ(digests_.size(), 1u);
}

TEST_F(FurtherLooksTest, AVerdictThatHasChangedTakesThePlaceOfTheFirst) {
  Start();
  Process(Look(false, false));
  const IncidentConcluded second = Process(Look(true, true));
  EXPECT_TRUE(second.hang);
  EXPECT_FALSE(second.unknown);
  EXPECT_EQ(second.revision, 2);
  ASSERT_EQ(digests_.size(), 2u);
  EXPECT_THAT(digests_[0], Not(HasSubstr("Revision:")));
  EXPECT_THAT(digests_[1], HasSubstr("Revision: 2"));
  ASSERT_EQ(found_.size(), 2u);
  EXPECT_EQ(found_[1].id, IncidentKey(kIncidentId, 2));
  EXPECT_EQ(found_[1].cause, "BAD_TPU_CHIP");
  pipeline_->Keep({.id = "20261120T124420Z-00000000", .files = {}}).wait();  // they are on disk
  ASSERT_GE(wrote_.size(), 2u);
  EXPECT_EQ(wrote_[0], kIncidentId);
  EXPECT_EQ(wrote_[1], IncidentKey(kIncidentId, 2));
  std::ostringstream json;
  json << std::ifstream(root_ + "/incidents/" + kIncidentId + "/digest.json").rdbuf();
  EXPECT_THAT(json.str(), HasSubstr("\"revision\": 2"));
  EXPECT_THAT(json.str(), HasSubstr("BAD_TPU_CHIP"));
}

// Another culprit, after a look at a job that still went on: people are told of it, but a
// standstill counts only once against a machine.
TEST_F(FurtherLooksTest, ANamedVerdictIsReplacedOnlyByOneThatNamesOthers) {
  Start();
  Process(Look(false, true));
  const IncidentConcluded same = Process(Look(true, true));
  EXPECT_TRUE(same.hang);
  EXPECT_FALSE(same.unknown);
  EXPECT_EQ(same.revision, 1);
  EXPECT_EQ(digests_.size(), 1u);
  Conclude other = Look(true, false);
  classifier::testing::Scenario scenario;
  scenario.Put(scenario.Tensor(1, 0, 1), 0, classifier::testing::kStep,
               classifier::testing::kCompute);
  other.capture = scenario.capture;
  const IncidentConcluded changed = Process(std::move(other));
  EXPECT_EQ(changed.revision, 2);
  EXPECT_EQ(digests_.size(), 2u);
  ASSERT_EQ(found_.size(), 2u);
  ASSERT_FALSE(found_[0].culprits.empty());
  ASSERT_FALSE(found_[1].culprits.empty());
  EXPECT_NE(found_[0].culprits[0].host, found_[1].culprits[0].host);
  EXPECT_EQ(found_[0].culprits[0].grounds, Grounds::kRepetition);
  EXPECT_EQ(found_[1].culprits[0].grounds, Grounds::kNever);
}

TEST_F(FurtherLooksTest, AJobIsNoLargerThanTheHostsThatAnswered) {
  Start();
  Process(Look(false, true));
  Conclude crowded = Look(false, true);
  crowded.incident_id = "20261120T124421Z-00000000";
  crowded.hosts = 1;
  Process(std::move(crowded));
  ASSERT_EQ(found_.size(), 2u);
  EXPECT_GT(found_[0].hosts, 1);
  EXPECT_EQ(found_[1].hosts, 1);
}

TEST_F(FurtherLooksTest, AnotherCoordinatorCountsOn) {
  Start();
  Process(Look(false, false));
  Start();
  EXPECT_EQ(Process(Look(true, true)).revision, 5);
}

TEST_F(FurtherLooksTest, AnExcuseIsReportedWithItsEnd) {
  classifier::testing::Scenario scenario;
  scenario.MakeIdle(0, 1);
  Progress& page = scenario.At(0, 1).progress.emplace();
  page.phase = Phase::kCheckpoint;
  page.phase_ms = 60'000;
  scenario.capture.header.longest_pause_ms = 600'000;
  Conclude conclude = Look(false, false);
  conclude.capture = scenario.capture;
  Start();
  const IncidentConcluded event = Process(std::move(conclude));
  EXPECT_FALSE(event.hang);
  EXPECT_EQ(event.excused, absl::Minutes(9));
  EXPECT_TRUE(digests_.empty());
}

}  // namespace
}  // namespace rapideye::coordinator
