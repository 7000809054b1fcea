#include "coordinator/store/incident_writer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "classifier/classify.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/records/findings.h"
#include "coordinator/fleet/records/record_json.h"
#include "coordinator/store/incident_files.h"
#include "coordinator/store/incident_form.h"
#include "coordinator/store/incident_summary.h"
#include "coordinator/store/text_comparison.h"
#include "digest/report_json.h"
#include "proto/capture/capture_writer.h"
#include "proto/common/clock/clock.h"
#include "proto/common/worker/thread.h"

namespace rapideye::coordinator {
namespace {

RenderedDigest RenderForms(const digest::Report& report, digest::TextFormat format) {
  const absl::Duration begin = MonotonicTime();
  RenderedDigest rendered;
  rendered.text = RenderAs(report, IncidentForm::kText, format);
  rendered.html = RenderAs(report, IncidentForm::kHtml, format);
  nlohmann::ordered_json json = digest::ReportToJson(report);
  // The time of all rendering but the printing of this document.
  json["timings"]["renderMs"] = absl::ToInt64Milliseconds(MonotonicTime() - begin);
  rendered.json = absl::StrCat(digest::Dump(json, /*pretty=*/true), "\n");
  return rendered;
}

std::optional<ToldVerdict> VerdictIn(const std::string& json) {
  const absl::StatusOr<IncidentSummary> summary = SummariseDigest(json);
  return summary.ok() ? std::optional(VerdictOf(*summary)) : std::nullopt;
}

absl::Time DetectedIn(const Capture& capture) {
  return absl::FromUnixMillis(capture.header.detected_unix_ms.value_or(0));
}

// The parts that a digest cannot do without: cause, culprits, removal, missing workers. Sentences
// and evidence may have been the reason for the delay.
Verdict Essence(const Verdict& verdict, std::string why) {
  constexpr size_t kMostCulprits = 16;
  Verdict essence;
  essence.cause = verdict.cause;
  essence.detail = verdict.detail;
  essence.confidence = verdict.confidence;
  essence.culprits = verdict.culprits;
  if (essence.culprits.size() > kMostCulprits) essence.culprits.resize(kMostCulprits);
  essence.missing = verdict.missing;
  essence.removal = verdict.removal;
  essence.reasons.push_back({"deadline", why});
  essence.lacking.push_back(std::move(why));
  return essence;
}

}  // namespace

EvidenceExtent EvidenceExtent::Of(const Capture& capture) {
  EvidenceExtent extent;
  extent.workers = capture.snapshots.size();
  for (const Snapshot& snapshot : capture.snapshots) {
    extent.cores += snapshot.cores.size();
    for (const Core& core : snapshot.cores) {
      extent.named_positions +=
          std::count_if(core.sequencers.begin(), core.sequencers.end(),
                        [](const Sequencer& one) { return one.hlo.has_value(); });
    }
    if (!snapshot.stacks.empty()) ++extent.with_stacks;
  }
  return extent;
}

// A runtime that has aborted meanwhile, or an agent that has gone, took evidence with it.
bool EvidenceExtent::AddsStacksTo(const EvidenceExtent& before) const {
  return with_stacks > before.with_stacks && workers >= before.workers && cores >= before.cores &&
         named_positions >= before.named_positions;
}

IncidentWriter::IncidentWriter(IncidentPipeline& pipeline, Settings settings)
    : pipeline_(pipeline), settings_(std::move(settings)) {}

IncidentWriter::~IncidentWriter() {
  worker_.Post([this] { FinishWaiting(); });
  worker_.Stop();
}

void IncidentWriter::Post(Conclude conclude) {
  worker_.Post([this, conclude = std::move(conclude)]() mutable { Process(std::move(conclude)); });
}

void IncidentWriter::Post(TextsGathered texts) {
  worker_.Post([this, texts = std::move(texts)]() mutable { Process(std::move(texts)); });
}

void IncidentWriter::FinishWaiting() {
  if (awaits_texts_.has_value()) Finish(*std::exchange(awaits_texts_, std::nullopt));
}

int64_t IncidentWriter::RevisionOf(const std::string& incident_id) const {
  if (incident_id == last_incident_) return last_revision_;
  return settings_.revision_on_disk ? settings_.revision_on_disk(incident_id) : 1;
}

// Further workers may end after the first culprit's process: the culprit named first stays.
bool IncidentWriter::Repeats(const Begun& begun) const {
  const Conclude& conclude = *begun.conclude;
  if (!conclude.again || conclude.incident_id != last_incident_) return false;
  if (last_verdict_.cause == Cause::kUnknown) return false;
  const std::vector<Culprit>& before = last_verdict_.culprits;
  const std::vector<Culprit>& now = begun.verdict.culprits;
  if (before.empty() || now.empty()) return last_verdict_.cause == begun.verdict.cause;
  return std::any_of(now.begin(), now.end(), [&](const Culprit& one) {
    return std::any_of(before.begin(), before.end(),
                       [&](const Culprit& other) { return one.worker == other.worker; });
  });
}

bool IncidentWriter::HasLateStacks(const Begun& begun) const {
  return begun.conclude->incident_id == last_incident_ && last_verdict_.cause == Cause::kUnknown &&
         EvidenceExtent::Of(begun.conclude->capture).AddsStacksTo(last_evidence_);
}

// Further looks follow a digest that says UNKNOWN, or the digest of an alarm while the job went on.
bool IncidentWriter::SaysNothingNew(const Begun& begun) {
  const bool unknown = begun.verdict.cause == Cause::kUnknown && begun.conclude->again;
  if (unknown && HasLateStacks(begun)) return false;
  const bool repeats = Repeats(begun);
  if (begun.verdict.cause != Cause::kNoHang && !unknown && !repeats) return false;
  IncidentConcluded event{
      .incident_id = begun.conclude->incident_id, .hang = unknown || repeats, .unknown = unknown};
  if (event.hang) event.revision = RevisionOf(event.incident_id);
  if (begun.verdict.excused_ms.has_value()) {
    event.excused = absl::Milliseconds(*begun.verdict.excused_ms);
  }
  spdlog::info("incident {}: {}{}{}{}", event.incident_id,
               std::string(CauseName(begun.verdict.cause)),
               begun.verdict.detail == Detail::kNone ? "" : " ",
               std::string(DetailName(begun.verdict.detail)),
               begun.conclude->again ? ", as seen again; its digest stays as it is" : "");
  settings_.concluded(std::move(event));
  return true;
}

Verdict IncidentWriter::VerdictOn(const std::shared_ptr<Conclude>& conclude) const {
  std::optional<Verdict> verdict = WithPatience(
      [conclude, classify = settings_.classify] { return classify(conclude->capture); },
      settings_.verdict_patience);
  if (verdict.has_value()) return *std::move(verdict);
  const std::string text =
      absl::StrCat("not classified within ", absl::FormatDuration(settings_.verdict_patience),
                   ": the evidence is far larger than that of a real job; rapideye diagnose on "
                   "the capture takes as long as it needs");
  spdlog::error("incident {}: {}", conclude->incident_id, text);
  Verdict unknown;
  unknown.cause = Cause::kUnknown;
  std::set<WorkerId> there;
  for (const Snapshot& snapshot : conclude->capture.snapshots) there.insert(snapshot.worker);
  for (const ExpectedWorker& worker : conclude->capture.header.expected_workers) {
    if (!there.contains(worker.id)) unknown.missing.push_back(worker.id);
  }
  unknown.lacking.push_back(text);
  unknown.reasons.push_back({"deadline", text});
  RecommendedAction action;
  action.description =
      "Run rapideye diagnose on the capture, and look for workers whose evidence is huge";
  unknown.actions.push_back(std::move(action));
  return unknown;
}

RenderedDigest IncidentWriter::Render(const Begun& begun,
                                      const digest::ReportContext& context) const {
  const digest::TextFormat format = settings_.text_format;
  std::optional<RenderedDigest> rendered = WithPatience(
      [conclude = begun.conclude, verdict = begun.verdict, context, build = settings_.report,
       format] { return RenderForms(build(conclude->capture, verdict, context), format); },
      settings_.render_patience);
  if (rendered.has_value()) return *std::move(rendered);
  const std::string why =
      absl::StrCat("not rendered within ", absl::FormatDuration(settings_.render_patience),
                   ": the evidence is far larger than that of a real job; rapideye diagnose on "
                   "the capture shows it");
  spdlog::error("incident {}: {}", begun.conclude->incident_id, why);
  Capture known;
  known.header = begun.conclude->capture.header;
  return RenderForms(digest::BuildReport(known, Essence(begun.verdict, why), context), format);
}

void IncidentWriter::Process(Conclude conclude) {
  const absl::Duration begin = MonotonicTime();
  Begun begun{std::make_shared<Conclude>(std::move(conclude)), {}, {}};
  begun.verdict = VerdictOn(begun.conclude);
  begun.began = begin;
  begun.classification = MonotonicTime() - begin;
  if (settings_.classified) settings_.classified(begun.verdict.cause, begun.classification);
  const std::string id = begun.conclude->incident_id;
  if (SaysNothingNew(begun)) return;
  begun.revision = begun.conclude->again ? RevisionOf(id) + 1 : 1;
  // One incident exists at a time; an incident that waits for ever would never be told.
  FinishWaiting();
  if (begun.verdict.sides.empty() || settings_.want_texts == nullptr) {
    return Finish(std::move(begun));
  }
  TextsWanted wanted{.incident_id = id, .sides = begun.verdict.sides};
  awaits_texts_ = std::move(begun);
  settings_.want_texts(std::move(wanted));
}

void IncidentWriter::Process(TextsGathered texts) {
  if (!awaits_texts_.has_value() || awaits_texts_->conclude->incident_id != texts.incident_id) {
    return;
  }
  Begun begun = *std::exchange(awaits_texts_, std::nullopt);
  const absl::Duration begin = MonotonicTime();
  ComparedTexts compared = CompareTexts(std::move(texts.sides));
  begun.conclude->capture.header.hlo_comparison = std::move(compared.comparison);
  begun.conclude->capture.header.more_hlo_comparisons = std::move(compared.more);
  begun.texts = std::move(compared.files);
  // Classifies again, so that a later run on the capture gives the same verdict.
  begun.verdict = VerdictOn(begun.conclude);
  begun.classification += MonotonicTime() - begin;
  if (SaysNothingNew(begun)) return;
  Finish(std::move(begun));
}

void IncidentWriter::Announce(const Begun& begun, std::string text,
                              const std::optional<ToldVerdict>& verdict) const {
  if (!settings_.digested) return;
  const Conclude& conclude = *begun.conclude;
  settings_.digested({.incident_id = conclude.incident_id,
                      .revision = begun.revision,
                      .job = conclude.capture.header.job,
                      .detected = DetectedIn(conclude.capture),
                      .text = std::move(text),
                      .verdict = verdict,
                      .times = {.detection = conclude.detection,
                                .collection = conclude.detect_to_collect + conclude.collect,
                                .digest = MonotonicTime() - begun.began}});
}

IncidentRecord IncidentWriter::RecordOf(const Begun& begun) const {
  const Conclude& conclude = *begun.conclude;
  const std::string& id = conclude.incident_id;
  IncidentRecord record = Describe(IncidentKey(id, begun.revision), conclude.capture, begun.verdict,
                                   DetectedIn(conclude.capture), conclude.hardware);
  if (conclude.hosts.has_value()) record.hosts = std::min(record.hosts, *conclude.hosts);
  // A standstill counts once against a machine: a second verdict on it is for people.
  if (begun.revision > 1 && id == last_incident_ && last_verdict_.cause != Cause::kUnknown) {
    for (CulpritRecord& culprit : record.culprits) culprit.grounds = Grounds::kNever;
  }
  return record;
}

void IncidentWriter::Finish(Begun begun) {
  const Conclude& conclude = *begun.conclude;
  const std::string& id = conclude.incident_id;
  const std::string path = pipeline_.PathOf(id);
  digest::ReportContext context{
      .incident_id = id,
      .timings = digest::Timings{.detect_to_collect_ms =
                                     absl::ToInt64Milliseconds(conclude.detect_to_collect),
                                 .collect_ms = absl::ToInt64Milliseconds(conclude.collect),
                                 .classify_ms = absl::ToInt64Milliseconds(begun.classification)},
      .files = {.capture = absl::StrCat(path, "/", kCaptureFile),
                .json = absl::StrCat(path, "/", kJsonFile),
                .text = absl::StrCat(path, "/", kTextFile),
                .html = absl::StrCat(path, "/", kHtmlFile)},
      .revision = begun.revision};
  for (const IncidentFile& text : begun.texts) {
    context.files.hlo.push_back(absl::StrCat(path, "/", text.name));
  }
  RenderedDigest rendered = Render(begun, context);
  absl::StatusOr<std::string> capture =
      wire::WriteCapture(conclude.capture, {.encoding = wire::Encoding::kJsonLines, .gzip = true});
  IncidentRecord record = RecordOf(begun);
  const std::string remembered = RenderRecord(record);
  if (settings_.found) {
    record.digest = rendered.json;
    settings_.found(std::move(record));
  }
  const std::optional<ToldVerdict> told = VerdictIn(rendered.json);
  std::vector<IncidentFile> files = {{kJsonFile, std::move(rendered.json)},
                                     {kTextFile, rendered.text},
                                     {kHtmlFile, std::move(rendered.html)},
                                     {kRecordFile, remembered}};
  for (IncidentFile& text : begun.texts) files.push_back(std::move(text));
  if (capture.ok()) {
    files.push_back({kCaptureFile, *std::move(capture)});
  } else {
    spdlog::error("incident {}: its capture cannot be written: {}", id,
                  std::string(capture.status().message()));
  }
  // The digest comes last in the log, after the path of its files, but waits for no disk that
  // hangs.
  last_incident_ = id;
  last_revision_ = begun.revision;
  last_verdict_ = begun.verdict;
  last_evidence_ = EvidenceExtent::Of(conclude.capture);
  const auto first_try =
      pipeline_.Keep({.id = id, .files = std::move(files), .revision = begun.revision});
  const absl::Duration patience = settings_.disk_patience;
  if (first_try.wait_for(absl::ToChronoNanoseconds(patience)) != std::future_status::ready) {
    spdlog::error("incident {}: the state directory has not taken it within {}; still trying", id,
                  absl::FormatDuration(patience));
  }
  settings_.log_digest(id, rendered.text, told);
  Announce(begun, std::move(rendered.text), told);
  settings_.concluded({.incident_id = id,
                       .hang = true,
                       .unknown = begun.verdict.cause == Cause::kUnknown,
                       .revision = begun.revision,
                       .verdict = told});
}

}  // namespace rapideye::coordinator
