#include "agent/sources/kernel_log/fetch.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/kernel_log/limits.h"
#include "agent/sources/kernel_log/parse.h"
#include "agent/sources/pcie/fetch.h"

namespace rapideye::agent {
namespace {

// Keys of a record's dictionary.
constexpr std::string_view kSubsystem = " SUBSYSTEM=";
constexpr std::string_view kDevice = " DEVICE=";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

std::string WhyNot(const std::string& path, int error) {
  const std::string what = absl::StrCat(path, ": ", std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM:
      return absl::StrCat(what, "; the agent needs CAP_SYSLOG to read the kernel's log, or ",
                          "--disable=kernel-log does without");
    case ENOENT:
      return absl::StrCat(what, "; mount the host's /dev/kmsg into the container, or ",
                          "--disable=kernel-log does without");
    default:
      return what;
  }
}

}  // namespace

KernelLog::KernelLog(std::string path) : path_(std::move(path)) {}

KernelLog::~KernelLog() {
  if (file_ >= 0) close(file_);
}

bool KernelLog::Open(KernelLogReading& reading) {
  if (file_ >= 0) return true;
  file_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file_ < 0) reading.unavailable = WhyNot(path_, errno);
  return file_ >= 0;
}

KernelLogReading KernelLog::Read(const std::vector<TpuDevice>& tpus) {
  KernelLogReading reading;
  known_.clear();
  if (!Open(reading)) return reading;
  const auto give_up =
      std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(kKernelLogDeadline);
  std::array<char, kMaxKernelRecordBytes> buffer;
  // The kernel hands out one line at a time.
  for (int i = 0; i < kMaxKernelLinesPerLook && std::chrono::steady_clock::now() < give_up; ++i) {
    const ssize_t n = read(file_, buffer.data(), buffer.size());
    if (n > 0) {
      Take({buffer.data(), static_cast<size_t>(n)}, tpus, reading);
    } else if (n == 0 || errno == EAGAIN) {
      backlog_ = false;
      break;
    } else if (errno != EPIPE && errno != EINTR && errno != EINVAL) {
      // EPIPE: lines were lost, the next one tells how many. EINVAL: one of them is
      // longer than the kernel says that they can be.
      reading.unavailable = WhyNot(path_, errno);
      break;
    }
  }
  return reading;
}

void KernelLog::Take(std::string_view bytes, const std::vector<TpuDevice>& tpus,
                     KernelLogReading& reading) {
  for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    partial_ += bytes.substr(0, end);
    TakeLine(std::exchange(partial_, ""), tpus, reading);
    bytes.remove_prefix(end + 1);
  }
  partial_ += bytes;
  if (partial_.size() > kMaxKernelRecordBytes) partial_.clear();
}

void KernelLog::TakeLine(std::string_view text, const std::vector<TpuDevice>& tpus,
                         KernelLogReading& reading) {
  if (text.starts_with(' ')) {
    TakeProperty(text, tpus, reading);
    return;
  }
  record_.clear();
  subsystem_.clear();
  const std::optional<KernelRecord> record = ParseKernelRecord(View(text));
  if (!record.has_value()) return;
  const bool lost = last_sequence_.has_value() && record->sequence > *last_sequence_ + 1;
  if (lost && !std::exchange(told_of_loss_, true)) {
    reading.notes.push_back(absl::StrCat(
        "the kernel's log was overwritten before it was read, for the first time ",
        record->sequence - *last_sequence_ - 1,
        " lines of it: errors of chips may be among them (log_buf_len= makes it larger)"));
  }
  last_sequence_ = record->sequence;
  Keep(RecogniseKernelLine(*record, tpus), reading);
  if (record->of_kernel) record_ = std::string(text);
}

void KernelLog::TakeProperty(std::string_view line, const std::vector<TpuDevice>& tpus,
                             KernelLogReading& reading) {
  if (record_.empty()) return;
  if (line.starts_with(kSubsystem)) {
    subsystem_ = line.substr(kSubsystem.size());
  } else if (line.starts_with(kDevice)) {
    // The kernel writes DEVICE behind SUBSYSTEM, so the dictionary is complete.
    std::optional<KernelRecord> record = ParseKernelRecord(record_);
    record->subsystem = subsystem_;
    record->device = View(line.substr(kDevice.size()));
    Keep(RecogniseKernelLine(*record, tpus), reading);
    record_.clear();
  }
}

void KernelLog::Keep(std::optional<KernelLine> line, KernelLogReading& reading) {
  if (!line.has_value()) return;
  line->backlog = backlog_;
  const auto [same, added] = known_.emplace(line->line.key, reading.lines.size());
  if (added && reading.lines.size() < kMaxKernelEvents) {
    reading.lines.push_back(*std::move(line));
  } else if (!added && same->second < reading.lines.size()) {
    // The last of several equal lines is the one most surely of the present job.
    line->line.repeats = reading.lines[same->second].line.repeats + 1;
    reading.lines[same->second] = *std::move(line);
  }
}

namespace {

class KernelLogFetcher final : public Fetcher<KernelLogReading> {
 public:
  explicit KernelLogFetcher(const HostOptions& options)
      : sys_root_(options.sys_root), log_(absl::StrCat(options.dev_root, "/kmsg")) {}

  std::optional<KernelLogReading> Fetch(const HostLook& look, absl::Duration,
                                        HostFindings& found) override {
    return log_.Read(KnownTpus(sys_root_, look, found));
  }

 private:
  const std::string sys_root_;
  KernelLog log_;
};

}  // namespace

std::unique_ptr<Fetcher<KernelLogReading>> KernelLogSource::MakeFetcher(const HostOptions& options,
                                                                        HostFindings&) {
  return std::make_unique<KernelLogFetcher>(options);
}

}  // namespace rapideye::agent
