#include "digest/html_text.h"

#include <cmath>
#include <utility>

#include "digest/fold.h"
#include "digest/wording.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

constexpr int64_t kSecondMs = 1000;
constexpr int64_t kMinuteMs = 60 * kSecondMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;

constexpr std::pair<Detail, const char*> kDetailTitles[] = {
    {Detail::kTensorCore, "TensorCore"},
    {Detail::kSparseCore, "SparseCore"},
    {Detail::kGpu, "GPU"},
    {Detail::kDcnLink, "link between two hosts"},
    {Detail::kDcnHost, "network of a host"},
    {Detail::kDcnPartition, "network cut in two"},
    {Detail::kIciLink, "ICI link"},
    {Detail::kModuleDivergence, "programs diverged"},
    {Detail::kLaunchOrder, "launch order"},
    {Detail::kInputPipeline, "input pipeline"},
    {Detail::kProgramNotQueued, "nothing launched"},
    {Detail::kCoreHalt, "core halted"},
    {Detail::kProcessExit, "process ended"},
    {Detail::kProcessStopped, "process stopped"},
    {Detail::kWorkerLost, "worker lost"},
    {Detail::kHostToDevice, "copy to the device"},
    {Detail::kDeviceToHost, "copy from the device"},
    {Detail::kOutOfMemory, "out of memory"},
    {Detail::kPower, "power"},
    {Detail::kPreempted, "preempted"},
    {Detail::kDeviceUnavailable, "chips not available"},
    {Detail::kNotStarted, "not started"},
    {Detail::kConfiguration, "configuration"},
    {Detail::kCoordinationService, "coordination service"},
    {Detail::kRunning, "running"},
    {Detail::kPaused, "paused"},
    {Detail::kStarting, "starting"},
    {Detail::kEnded, "ended"},
};

// "" for details of causes that say enough by themselves.
const char* DetailTitle(Detail detail) {
  for (const auto& [known, title] : kDetailTitles) {
    if (known == detail) return title;
  }
  return "";
}

}  // namespace

std::string Html(std::string_view text) { return text::EscapeHtml(text, text::kMaxSentenceBytes); }

std::string WorkerHtml(const ReportWorker& worker) {
  return absl::StrCat("<code>", Html(text::EscapeName(worker.host)), "</code> (slice ",
                      worker.id.slice, " task ", worker.id.task, ")");
}

bool NamesWorker(std::string_view sentence, const ReportWorker& worker) {
  const std::string name =
      absl::StrCat("slice ", worker.id.slice, " task ", worker.id.task, " (", worker.host, ")");
  return sentence.find(name) != std::string_view::npos;
}

std::string FoldedHosts(const std::vector<std::string>& hosts, size_t max_bytes) {
  return text::JoinBounded(FoldNames(hosts), max_bytes);
}

std::string FoldedHosts(const Report& report, const std::vector<size_t>& workers,
                        size_t max_bytes) {
  std::vector<std::string> hosts;
  hosts.reserve(workers.size());
  for (const size_t worker : workers) {
    hosts.push_back(text::EscapeName(report.workers[worker].host));
  }
  return FoldedHosts(hosts, max_bytes);
}

std::string Grouped(int64_t number) {
  std::string digits = absl::StrCat(number);
  for (size_t at = digits.size(); at > 3 + (number < 0 ? 1U : 0U);) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string Counted(int64_t number, const char* noun) {
  return absl::StrCat(Grouped(number), " ", noun, number == 1 ? "" : "s");
}

std::string Duration(int64_t ms) {
  if (ms < kSecondMs) return absl::StrCat(ms, " ms");
  if (ms < 10 * kSecondMs) return absl::StrCat(ms / kSecondMs, ".", ms % kSecondMs / 100, " s");
  if (ms < kMinuteMs) return absl::StrCat(ms / kSecondMs, " s");
  if (ms < kHourMs) {
    const int64_t seconds = ms % kMinuteMs / kSecondMs;
    return absl::StrCat(ms / kMinuteMs, " min",
                        seconds == 0 ? "" : absl::StrCat(" ", seconds, " s"));
  }
  return absl::StrCat(Grouped(ms / kHourMs), " h ", ms % kHourMs / kMinuteMs, " min");
}

std::string SliceRanges(const std::vector<int32_t>& slices) {
  std::string text;
  for (size_t i = 0; i < slices.size();) {
    size_t end = i + 1;
    while (end < slices.size() && slices[end] == slices[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ",", slices[i]);
    if (end - i > 1) absl::StrAppend(&text, "-", slices[end - 1]);
    i = end;
  }
  return text;
}

std::string JsonInHtml(std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
  return json;
}

std::string CauseTitle(Cause cause, Detail detail) {
  std::string title = cause == Cause::kNoHang ? "No hang" : PotentialCause(cause, detail);
  const std::string more = DetailTitle(detail);
  if (!more.empty()) absl::StrAppend(&title, " · ", more);
  return title;
}

}  // namespace rapideye::digest
