#include "coordinator/otlp/exporter.h"

#include <spdlog/spdlog.h>

#include <deque>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/common/backoff/backoff.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {

absl::StatusOr<std::string> OtlpLogsUrl(const std::string& endpoint) {
  absl::string_view rest = endpoint;
  const bool scheme =
      absl::ConsumePrefix(&rest, "http://") || absl::ConsumePrefix(&rest, "https://");
  if (!scheme || rest.empty() || rest.front() == '/' || rest.front() == ':' ||
      rest.find_first_of(" \t\r\n?#") != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        UrlForLogs(endpoint), " is no http://HOST:PORT of an OTLP receiver (often port 4318)"));
  }
  absl::string_view base = endpoint;
  while (absl::ConsumeSuffix(&base, "/")) {
  }
  if (absl::EndsWith(base, "/v1/logs")) return std::string(base);
  return absl::StrCat(base, "/v1/logs");
}

std::string UrlForLogs(absl::string_view url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == absl::string_view::npos ? 0 : scheme + 3;
  const absl::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const size_t at = authority.rfind('@');
  if (at == absl::string_view::npos) return std::string(url);
  return absl::StrCat(url.substr(0, begin), "***", url.substr(begin + at));
}

struct OtlpExporter::State {
  State(Settings given, std::string logs_url)
      : settings(std::move(given)),
        url(std::move(logs_url)),
        shown_url(UrlForLogs(url)),
        backoff(settings.first_retry, settings.longest_retry) {}

  const Settings settings;
  const std::string url;
  const std::string shown_url;
  mutable Mutex mutex;
  std::deque<IncidentEvent> waiting ABSL_GUARDED_BY(mutex);  // oldest first
  OtlpCounters counters ABSL_GUARDED_BY(mutex);
  // The number of events that have left the queue since the start.
  int64_t first ABSL_GUARDED_BY(mutex) = 0;

  // Only the thread uses these.
  Backoff backoff;
  absl::Duration not_before = -absl::InfiniteDuration();
  bool fails = false;  // as the log last said

  absl::Duration Turn(bool last);
  void NoteOutcome(const absl::Status& status, size_t events);
};

// Events that came meanwhile stay: they get a request of their own.
absl::Duration OtlpExporter::State::Turn(bool last) {
  for (;;) {
    if (last ? fails : MonotonicTime() < not_before) return not_before;
    std::vector<IncidentEvent> events;
    int64_t end = 0;
    {
      const MutexLock lock(mutex);
      if (waiting.empty()) return absl::InfiniteDuration();
      events.assign(waiting.begin(), waiting.end());
      end = first + static_cast<int64_t>(events.size());
    }
    const absl::Status status = settings.post(url, RenderLogs(events));
    NoteOutcome(status, events.size());
    const bool again = absl::IsUnavailable(status);
    const MutexLock lock(mutex);
    if (again) {
      ++counters.failures;
      not_before = MonotonicTime() + backoff.Next();
      return not_before;
    }
    (status.ok() ? counters.sent : counters.dropped) += static_cast<int64_t>(events.size());
    // Events that made room in the meantime are gone already.
    for (; first < end; ++first) waiting.pop_front();
    backoff.Reset();
    not_before = -absl::InfiniteDuration();
  }
}

void OtlpExporter::State::NoteOutcome(const absl::Status& status, size_t events) {
  const std::string why(status.message());
  if (status.ok()) {
    if (fails) spdlog::info("--otlp-endpoint: {} answers again", shown_url);
  } else if (!absl::IsUnavailable(status)) {
    spdlog::error("--otlp-endpoint: {} refuses {} events: {}; they are not sent again", shown_url,
                  events, why);
  } else if (!fails) {
    spdlog::warn("--otlp-endpoint: {}: {}; it is tried again", shown_url, why);
  }
  fails = absl::IsUnavailable(status);
}

OtlpExporter::OtlpExporter(Settings settings)
    : state_([&settings] {
        std::string url = OtlpLogsUrl(settings.endpoint).value_or(settings.endpoint);
        return std::make_shared<State>(std::move(settings), std::move(url));
      }()),
      worker_([state = state_](bool last) { return state->Turn(last); }) {}

OtlpExporter::~OtlpExporter() {
  worker_.Stop(state_->settings.stop_patience);
  const MutexLock lock(state_->mutex);
  for (const IncidentEvent& event : state_->waiting) {
    spdlog::warn("--otlp-endpoint: incident {}: {} was not sent", event.incident,
                 IncidentEventName(event.kind));
  }
}

void OtlpExporter::Send(IncidentEvent event) {
  {
    const MutexLock lock(state_->mutex);
    state_->waiting.push_back(std::move(event));
    if (state_->waiting.size() > kMaxOtlpEvents) {
      state_->waiting.pop_front();
      ++state_->first;
      ++state_->counters.dropped;
    }
  }
  worker_.Wake();
}

OtlpCounters OtlpExporter::Report() const {
  const MutexLock lock(state_->mutex);
  return state_->counters;
}

}  // namespace rapideye::coordinator
