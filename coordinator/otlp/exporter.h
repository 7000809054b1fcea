// OtlpExporter sends incident events to a receiver of OpenTelemetry, on a thread of its own.
#ifndef RAPIDEYE_COORDINATOR_OTLP_EXPORTER_H_
#define RAPIDEYE_COORDINATOR_OTLP_EXPORTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "coordinator/otlp/log_record.h"
#include "coordinator/otlp/post.h"
#include "proto/common/worker/periodic_worker.h"

namespace rapideye::coordinator {

// Events that may wait for the receiver; a job has a few a day. The oldest is dropped first.
inline constexpr size_t kMaxOtlpEvents = 64;
inline constexpr absl::Duration kFirstOtlpRetry = absl::Seconds(1);
inline constexpr absl::Duration kLongestOtlpRetry = absl::Minutes(1);
// The time that the end of the process waits for the receiver.
inline constexpr absl::Duration kStopOtlp = absl::Seconds(1);

// Counts events since the start.
struct OtlpCounters {
  int64_t sent = 0;
  int64_t failures = 0;  // tries that are made again
  int64_t dropped = 0;   // refused by the receiver, or too many waited
};

// Thread-safe. A receiver that is away, slow or hangs delays no caller: events wait, in bounds, and
// are sent once it answers. The log says when it stops answering, and when it answers again.
class OtlpExporter {
 public:
  using Post = std::function<absl::Status(const std::string& url, const std::string& body)>;

  struct Settings {
    std::string endpoint;  // http(s)://HOST[:PORT][/PATH]
    absl::Duration first_retry = kFirstOtlpRetry;
    absl::Duration longest_retry = kLongestOtlpRetry;
    absl::Duration stop_patience = kStopOtlp;
    Post post = PostJson;  // errors as PostJson; may outlive the exporter while it hangs
  };

  explicit OtlpExporter(Settings settings);
  // Tries once more, unless the receiver did not answer just now. A thread that hangs outlives
  // this; the log names the events that were not sent.
  ~OtlpExporter();
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  // Returns at once.
  void Send(IncidentEvent event);
  OtlpCounters Report() const;

 private:
  struct State;  // outlives this while a try hangs

  const std::shared_ptr<State> state_;
  PeriodicWorker worker_;
};

// The URL to which logs are posted: `endpoint` with /v1/logs, unless it ends so. INVALID_ARGUMENT
// if the endpoint is no URL of http or https.
absl::StatusOr<std::string> OtlpLogsUrl(const std::string& endpoint);
// The URL without the user and the password that it may hold.
std::string UrlForLogs(absl::string_view url);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_OTLP_EXPORTER_H_
