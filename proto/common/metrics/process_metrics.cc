#include "proto/common/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace rapideye::metrics {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Fields of /proc/self/stat that come after the program's name, which may itself
// hold blanks and brackets. The numbers are those of proc(5), less 3.
struct Stat {
  long threads = 0;                // 17
  unsigned long long started = 0;  // 19, in ticks since the machine booted
};

std::optional<Stat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 17; ++i) fields >> skipped;
  Stat stat;
  fields >> stat.threads >> skipped >> stat.started;
  if (!fields) return std::nullopt;
  return stat;
}

// Unix time in seconds.
std::optional<double> BootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<double> OpenDescriptors() {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  double count = 0;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) ++count;
  if (error) return std::nullopt;
  return count - 1;  // without the one that reads the directory
}

}  // namespace

void AddProcessMetrics(MetricPage& page) {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    page.AddCounter("process_cpu_seconds_total", "User and system CPU time used.",
                    Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  }
  std::ifstream statm("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  if (statm >> total_pages >> resident_pages) {
    const auto page_size = static_cast<double>(sysconf(_SC_PAGESIZE));
    page.AddGauge("process_resident_memory_bytes", "Resident memory.", resident_pages * page_size);
    page.AddGauge("process_virtual_memory_bytes", "Virtual memory.", total_pages * page_size);
  }
  if (const auto open = OpenDescriptors()) {
    page.AddGauge("process_open_fds", "Open file descriptors.", *open);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    page.AddGauge("process_max_fds", "File descriptors that may be open.",
                  static_cast<double>(limit.rlim_cur));
  }
  const std::optional<Stat> stat = ReadStat();
  if (!stat.has_value()) return;
  page.AddGauge("process_threads", "Threads.", static_cast<double>(stat->threads));
  if (const auto boot = BootTime()) {
    page.AddGauge(
        "process_start_time_seconds", "When the process started, in Unix time.",
        *boot + static_cast<double>(stat->started) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }
}

}  // namespace rapideye::metrics
