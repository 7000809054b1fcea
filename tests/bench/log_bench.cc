// Measures what following a log costs: a second of it at 10,000 and at 100,000 lines, against
// reading the log and finding its lines.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/sources/log/fetch.h"
#include "agent/sources/log/limits.h"

namespace rapideye::bench {
namespace {

std::string UsualLine(int64_t number) {
  return absl::StrCat("I1001 15:22:33.275768    4353 train_loop.py:", 100 + number % 50, "] step ",
                      number, " loss 2.", number % 1000,
                      " grad_norm 0.81 tokens/s 418220 input_ms 3.1 step_ms 812.4 mfu 0.512\n");
}

// A log, empty at first.
class LogFile {
 public:
  LogFile() : path_(std::filesystem::temp_directory_path() / absl::StrCat("log-", getpid())) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (file_ < 0) throw std::runtime_error("cannot write " + path_);
  }
  ~LogFile() {
    close(file_);
    std::filesystem::remove(path_);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  void Append(const std::string& text) {
    if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      throw std::runtime_error("cannot write " + path_);
    }
  }
  void Empty() {
    if (ftruncate(file_, 0) != 0) throw std::runtime_error("cannot truncate " + path_);
  }
  int descriptor() const { return file_; }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  int file_ = -1;
};

std::string Lines(int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += UsualLine(i);
  return text;
}

void Floor(benchmark::State& state) {
  LogFile log;
  log.Append(Lines(state.range(0)));
  std::string buffer(agent::kLogReadBytes, '\0');
  for (auto _ : state) {
    int64_t lines = 0;
    ssize_t n = 0;
    for (off_t at = 0; (n = pread(log.descriptor(), buffer.data(), buffer.size(), at)) > 0;
         at += n) {
      const char* end = buffer.data() + n;
      for (const char* p = buffer.data(); p < end; ++p, ++lines) {
        p = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
        if (p == nullptr) break;
      }
    }
    benchmark::DoNotOptimize(lines);
  }
}

// The agent looks twice in a second, each time at half of the lines.
void Follow(benchmark::State& state) {
  state.SetLabel(state.range(0) == 10'000 ? "at most 50 ms: 5 % of a core" : "");
  const std::string half = Lines(state.range(0) / 2);
  LogFile log;
  log.Append("begin\n");
  agent::LogFollower follower({.patterns = {log.path()}});
  absl::Duration now;
  follower.Read(now);
  for (auto _ : state) {
    for (int look = 0; look < 2; ++look) {
      state.PauseTiming();
      log.Append(half);
      now += agent::kLogPoll;
      state.ResumeTiming();
      if (!follower.Read(now).notes.empty()) state.SkipWithError("it falls behind");
    }
    state.PauseTiming();
    log.Empty();
    follower.Read(now);
    state.ResumeTiming();
  }
}

BENCHMARK(Floor)->Name("log, 10000 lines/floor")->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Follow)->Name("log, 10000 lines/agent")->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Floor)->Name("log, 100000 lines/floor")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Follow)->Name("log, 100000 lines/agent")->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rapideye::bench
