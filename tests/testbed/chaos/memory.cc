#include "tests/testbed/chaos/memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace rapideye::testbed {
namespace {

// Number of daemons listed of each kind: those that lived longest.
constexpr size_t kListed = 5;

}  // namespace

absl::StatusOr<Usage> UsageOf(pid_t pid) {
  const std::string directory = absl::StrCat("/proc/", pid);
  Usage usage;
  std::ifstream status(directory + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!absl::StartsWith(line, "VmRSS:")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() < 2 || !absl::SimpleAtoi(words[words.size() - 2], &usage.resident_kib)) {
      return absl::InternalError(absl::StrCat(directory, "/status: ", line));
    }
  }
  std::error_code error;
  const std::filesystem::directory_iterator descriptors(directory + "/fd", error);
  if (error || usage.resident_kib == 0) {
    return absl::NotFoundError(absl::StrCat("process ", pid, " is gone"));
  }
  usage.descriptors = std::distance(begin(descriptors), end(descriptors));
  return usage;
}

void DaemonLife::Add(absl::Duration at, const Usage& usage) { looks_.push_back({at, usage}); }

absl::Duration DaemonLife::Life() const {
  return looks_.empty() ? absl::ZeroDuration() : looks_.back().at - looks_.front().at;
}

int64_t DaemonLife::PeakKib() const {
  int64_t peak = 0;
  for (const Look& look : looks_) peak = std::max(peak, look.usage.resident_kib);
  return peak;
}

int64_t DaemonLife::LastKib() const {
  return looks_.empty() ? 0 : looks_.back().usage.resident_kib;
}

int64_t DaemonLife::MostDescriptors() const {
  int64_t most = 0;
  for (const Look& look : looks_) most = std::max(most, look.usage.descriptors);
  return most;
}

std::vector<DaemonLife::Look> DaemonLife::Warm() const {
  std::vector<Look> warm;
  for (const Look& look : looks_) {
    if (look.at - looks_.front().at >= kWarmUp) warm.push_back(look);
  }
  return warm;
}

int64_t DaemonLife::GrownKib() const {
  const std::vector<Look> warm = Warm();
  if (warm.empty()) return 0;
  return warm.back().usage.resident_kib - warm.front().usage.resident_kib;
}

double DaemonLife::KibPerMinute() const {
  const std::vector<Look> warm = Warm();
  double mean_at = 0;
  double mean_kib = 0;
  const auto count = static_cast<double>(warm.size());
  for (const Look& look : warm) {
    mean_at += absl::ToDoubleMinutes(look.at) / count;
    mean_kib += static_cast<double>(look.usage.resident_kib) / count;
  }
  double covariance = 0;
  double variance = 0;
  for (const Look& look : warm) {
    const double at = absl::ToDoubleMinutes(look.at) - mean_at;
    covariance += at * (static_cast<double>(look.usage.resident_kib) - mean_kib);
    variance += at * at;
  }
  return variance > 0 ? covariance / variance : 0;
}

void MemoryLog::Add(const std::string& daemon, pid_t pid, absl::Duration at, const Usage& usage) {
  lives_[{daemon, pid}].Add(at, usage);
}

std::string MemoryLog::Table() const {
  std::string table = absl::StrFormat("%-14s %11s %9s %9s %9s %11s %6s\n", "daemon", "generations",
                                      "life", "peak KiB", "grown KiB", "KiB/minute", "fds");
  for (const char* kind : {"coordinator", "agent"}) {
    std::vector<std::pair<std::string, const DaemonLife*>> found;
    for (const auto& [key, life] : lives_) {
      if (absl::StartsWith(key.daemon, kind)) found.emplace_back(key.daemon, &life);
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.second->Life() > b.second->Life(); });
    for (size_t i = 0; i < std::min(found.size(), kListed); ++i) {
      const auto& [name, life] = found[i];
      absl::StrAppendFormat(&table, "%-14s %11s %9s %9d %9d %11.1f %6d\n", name,
                            i == 0 ? absl::StrCat(found.size()) : "",
                            absl::FormatDuration(absl::Trunc(life->Life(), absl::Seconds(1))),
                            life->PeakKib(), life->GrownKib(), life->KibPerMinute(),
                            life->MostDescriptors());
    }
  }
  return table;
}

}  // namespace rapideye::testbed
