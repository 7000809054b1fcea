// Measures what the training loop pays for its progress page.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "agent/progress/rapideye_progress.h"
#include "agent/sources/progress_page/fetch.h"

namespace rapideye::agent {
namespace {

class OpenPage {
 public:
  OpenPage() : path_("/dev/shm/rapideye-progress-XXXXXX") {
    const int made = mkstemp(path_.data());
    if (made >= 0) close(made);
    error_ = rapideye_progress_open(&progress_, path_.c_str());
  }
  ~OpenPage() {
    rapideye_progress_close(&progress_);
    unlink(path_.c_str());
  }

  rapideye_progress* get() { return &progress_; }
  const std::string& path() const { return path_; }
  bool ok() const { return error_ == 0; }

 private:
  std::string path_;
  rapideye_progress progress_;
  int error_ = 0;
};

// Writes the page without reading the clock.
void BM_ProgressWrite(benchmark::State& state) {
  OpenPage page;
  if (!page.ok()) return state.SkipWithError("no page");
  int64_t step = 0;
  for (auto _ : state) {
    ++step;
    rapideye_progress_write(page.get(), step, RAPIDEYE_PHASE_STEP, step, 0);
    benchmark::ClobberMemory();
  }
  state.SetLabel("about a microsecond: three pwrite calls");
}
BENCHMARK(BM_ProgressWrite)->Name("progress_page/write");

// Makes the call of a training loop, which reads the clock as well.
void BM_ProgressStep(benchmark::State& state) {
  OpenPage page;
  if (!page.ok()) return state.SkipWithError("no page");
  int64_t step = 0;
  for (auto _ : state) rapideye_progress_step(page.get(), ++step);
}
BENCHMARK(BM_ProgressStep)->Name("progress_page/step");

// A caller that states when something began has to read the clock: this is the floor.
void BM_ReadClock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(rapideye_progress_now());
}
BENCHMARK(BM_ReadClock)->Name("progress_page/floor");

// The agent reads the page once a poll.
void BM_ProgressRead(benchmark::State& state) {
  OpenPage page;
  if (!page.ok()) return state.SkipWithError("no page");
  rapideye_progress_step(page.get(), 1);
  ProgressPageReader reader(page.path(), "/proc");
  for (auto _ : state) benchmark::DoNotOptimize(reader.Read());
}
BENCHMARK(BM_ProgressRead)->Name("progress_look/agent");

// The floor of that: to read the same bytes and check none of them.
void BM_ReadFile(benchmark::State& state) {
  OpenPage page;
  if (!page.ok()) return state.SkipWithError("no page");
  char bytes[sizeof(rapideye_progress_page)];
  for (auto _ : state) {
    const int descriptor = open(page.path().c_str(), O_RDONLY | O_CLOEXEC);
    benchmark::DoNotOptimize(pread(descriptor, bytes, sizeof(bytes), 0));
    close(descriptor);
  }
}
BENCHMARK(BM_ReadFile)->Name("progress_look/floor");

}  // namespace
}  // namespace rapideye::agent
