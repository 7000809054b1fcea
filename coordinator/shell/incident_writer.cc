#include "coordinator/shell/incident_writer.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "classifier/classify.h"
#include "coordinator/limits.h"
#include "coordinator/shell/event_loop.h"
#include "coordinator/shell/incident_files.h"
#include "digest/render_html.h"
#include "proto/wire/capture_writer.h"

namespace rapideye::coordinator {
namespace {

absl::Duration Monotonic() { return CurrentTime().monotonic; }

struct Rendered {
  std::string text;
  std::string json;
  std::string html;
};

Rendered Render(const Capture& capture, const Verdict& verdict, digest::ReportContext context,
                digest::TextFormat format) {
  const absl::Duration begin = Monotonic();
  Rendered rendered;
  const digest::Report report = digest::BuildReport(capture, verdict, context);
  rendered.text = digest::RenderText(report, format);
  rendered.html = digest::RenderHtml(report);
  // The JSON states how long rendering took, itself included: rendered twice.
  digest::RenderJson(report, /*pretty=*/true);
  context.timings->render_ms = absl::ToInt64Milliseconds(Monotonic() - begin);
  rendered.json = digest::RenderJson(digest::BuildReport(capture, verdict, context),
                                     /*pretty=*/true);
  rendered.json += '\n';
  return rendered;
}

}  // namespace

IncidentWriter::IncidentWriter(IncidentKeeper& keeper, Settings settings)
    : keeper_(keeper), settings_(std::move(settings)), thread_([this] { Run(); }) {}

IncidentWriter::~IncidentWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    filled_.notify_all();
  }
  thread_.join();
}

void IncidentWriter::Post(Conclude conclude) {
  const std::lock_guard lock(mutex_);
  incidents_.push_back(std::move(conclude));
  filled_.notify_all();
}

void IncidentWriter::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    filled_.wait(lock, [this] { return stopping_ || !incidents_.empty(); });
    if (incidents_.empty()) return;
    Conclude conclude = std::move(incidents_.front());
    incidents_.pop_front();
    lock.unlock();
    Process(std::move(conclude));
    lock.lock();
  }
}

void IncidentWriter::Process(Conclude conclude) {
  const std::string& id = conclude.incident_id;
  const absl::Duration begin = Monotonic();
  const Verdict verdict = Classify(conclude.capture);
  const absl::Duration classified = Monotonic();
  if (settings_.classified) settings_.classified(verdict.cause, classified - begin);
  if (verdict.cause == Cause::kNoHang) {
    settings_.concluded({.incident_id = id, .hang = false});
    return;
  }
  const std::string path = keeper_.PathOf(id);
  const digest::ReportContext context{
      .incident_id = id,
      .timings = digest::Timings{.detect_to_collect_ms =
                                     absl::ToInt64Milliseconds(conclude.detect_to_collect),
                                 .collect_ms = absl::ToInt64Milliseconds(conclude.collect),
                                 .classify_ms = absl::ToInt64Milliseconds(classified - begin)},
      .files = {.capture = absl::StrCat(path, "/", kCaptureFile),
                .json = absl::StrCat(path, "/", kJsonFile),
                .text = absl::StrCat(path, "/", kTextFile),
                .html = absl::StrCat(path, "/", kHtmlFile)}};
  Rendered rendered = Render(conclude.capture, verdict, context, settings_.text_format);
  absl::StatusOr<std::string> capture =
      wire::WriteCapture(conclude.capture, {.encoding = wire::Encoding::kJsonLines, .gzip = true});
  std::vector<IncidentFile> files = {{kJsonFile, std::move(rendered.json)},
                                     {kTextFile, rendered.text},
                                     {kHtmlFile, std::move(rendered.html)}};
  if (capture.ok()) {
    files.push_back({kCaptureFile, *std::move(capture)});
  } else {
    spdlog::error("incident {}: its capture cannot be written: {}", id,
                  std::string(capture.status().message()));
  }
  // The digest comes last in the log, after where it lies, but waits for no disk
  // that hangs.
  const auto first_try = keeper_.Keep({.id = id, .files = std::move(files)});
  const absl::Duration patience = settings_.disk_patience;
  if (first_try.wait_for(absl::ToChronoNanoseconds(patience)) != std::future_status::ready) {
    spdlog::error("incident {}: the state directory has not taken it within {}; still trying", id,
                  absl::FormatDuration(patience));
  }
  settings_.log_digest(id, rendered.text);
  settings_.concluded({.incident_id = id, .hang = true});
}

}  // namespace rapideye::coordinator
