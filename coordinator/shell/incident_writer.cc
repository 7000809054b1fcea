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
#include "proto/wire/capture_writer.h"

namespace rapideye::coordinator {
namespace {

absl::Duration Monotonic() { return CurrentTime().monotonic; }

struct Rendered {
  std::string text;
  std::string json;
};

Rendered Render(const Capture& capture, const Verdict& verdict, digest::ReportContext context,
                digest::TextFormat format) {
  const absl::Duration begin = Monotonic();
  Rendered rendered;
  rendered.text = digest::RenderText(digest::BuildReport(capture, verdict, context), format);
  // The JSON states how long rendering took, itself included: rendered twice.
  digest::RenderJson(digest::BuildReport(capture, verdict, context), /*pretty=*/true);
  context.timings->render_ms = absl::ToInt64Milliseconds(Monotonic() - begin);
  rendered.json = digest::RenderJson(digest::BuildReport(capture, verdict, context),
                                     /*pretty=*/true);
  rendered.json += '\n';
  return rendered;
}

void ReportDisk(const std::string& id, const std::string& path, std::future<absl::Status> result) {
  if (result.wait_for(absl::ToChronoNanoseconds(kDiskPatience)) != std::future_status::ready) {
    spdlog::error("incident {}: the state directory has not taken it within {}; still trying", id,
                  absl::FormatDuration(kDiskPatience));
    return;
  }
  const absl::Status status = result.get();
  if (status.ok()) {
    spdlog::info("incident {}: written to {}", id, path);
  } else {
    spdlog::error(
        "incident {}: NOT WRITTEN, only this log has its digest: {}; check --state-dir, its space "
        "and its rights",
        id, std::string(status.message()));
  }
}

}  // namespace

struct IncidentWriter::DiskQueue {
  explicit DiskQueue(IncidentStore s) : store(std::move(s)) {}
  IncidentStore store;  // of the disk thread
  std::mutex mutex;     // guards all below
  std::condition_variable changed;
  std::deque<DiskJob> jobs;
  bool stopping = false;
  bool stopped = false;

  void Run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || !jobs.empty(); });
      if (jobs.empty()) break;
      DiskJob& job = jobs.front();
      lock.unlock();
      const absl::Status status = store.Write(job.id, job.files);
      lock.lock();
      job.result.set_value(status);
      jobs.pop_front();
    }
    stopped = true;
    changed.notify_all();
  }
};

IncidentWriter::IncidentWriter(IncidentStore store, Settings settings)
    : paths_(store),
      settings_(std::move(settings)),
      disk_(std::make_shared<DiskQueue>(std::move(store))) {
  disk_thread_ = std::thread([disk = disk_] { disk->Run(); });
  thread_ = std::thread([this] { Run(); });
}

IncidentWriter::~IncidentWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    filled_.notify_all();
  }
  thread_.join();
  std::unique_lock lock(disk_->mutex);
  disk_->stopping = true;
  disk_->changed.notify_all();
  const bool stopped = disk_->changed.wait_for(lock, absl::ToChronoNanoseconds(kDiskPatience),
                                               [this] { return disk_->stopped; });
  lock.unlock();
  if (stopped) {
    disk_thread_.join();
  } else {
    spdlog::error("the state directory hangs; what it has not taken is lost");
    disk_thread_.detach();
  }
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
  if (verdict.cause == Cause::kNoHang) {
    settings_.concluded({.incident_id = id, .hang = false});
    return;
  }
  const std::string path = paths_.PathOf(id);
  const digest::ReportContext context{
      .incident_id = id,
      .timings = digest::Timings{.detect_to_collect_ms =
                                     absl::ToInt64Milliseconds(conclude.detect_to_collect),
                                 .collect_ms = absl::ToInt64Milliseconds(conclude.collect),
                                 .classify_ms = absl::ToInt64Milliseconds(classified - begin)},
      .files = {.capture = absl::StrCat(path, "/", kCaptureFile),
                .json = absl::StrCat(path, "/", kJsonFile),
                .text = absl::StrCat(path, "/", kTextFile),
                .html = ""}};
  Rendered rendered = Render(conclude.capture, verdict, context, settings_.text_format);
  absl::StatusOr<std::string> capture =
      wire::WriteCapture(conclude.capture, {.encoding = wire::Encoding::kJsonLines, .gzip = true});
  std::vector<IncidentFile> files = {{kJsonFile, std::move(rendered.json)},
                                     {kTextFile, rendered.text}};
  if (capture.ok()) {
    files.push_back({kCaptureFile, *std::move(capture)});
  } else {
    spdlog::error("incident {}: its capture cannot be written: {}", id,
                  std::string(capture.status().message()));
  }
  ReportDisk(id, path, PostToDisk(id, std::move(files)));
  settings_.log_digest(id, rendered.text);
  settings_.concluded({.incident_id = id, .hang = true});
}

std::future<absl::Status> IncidentWriter::PostToDisk(std::string id,
                                                     std::vector<IncidentFile> files) {
  const std::lock_guard lock(disk_->mutex);
  std::promise<absl::Status> promise;
  std::future<absl::Status> result = promise.get_future();
  if (disk_->jobs.size() >= kMaxPendingWrites) {
    promise.set_value(absl::ResourceExhaustedError(
        absl::StrCat(disk_->jobs.size(), " incidents already wait for the disk")));
    return result;
  }
  disk_->jobs.push_back({std::move(id), std::move(files), std::move(promise)});
  disk_->changed.notify_all();
  return result;
}

}  // namespace rapideye::coordinator
