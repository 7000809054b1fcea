// Measures how fast `exec` passes the command's output on, against cat in its place.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "agent/exec/output_ring.h"
#include "agent/exec/relay.h"
#include "tests/bench/smoke.h"

namespace rapideye::bench {
namespace {

constexpr int64_t kMebibyte = 1024 * 1024;
// A program with a buffer writes this much to a pipe at a time.
constexpr size_t kWriteBytes = 4096;

// Writes `bytes` bytes into a pipe; `pass_on`, in a process of its own, copies them from the
// reading end to /dev/null.
template <typename PassOn>
void WriteThrough(int64_t bytes, PassOn pass_on) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    pass_on(ends[0], open("/dev/null", O_WRONLY | O_CLOEXEC));
    _exit(1);
  }
  close(ends[0]);
  const std::string text(kWriteBytes, 'x');
  for (int64_t written = 0; written < bytes;) {
    const ssize_t n = write(ends[1], text.data(), text.size());
    if (n <= 0) throw std::runtime_error("nobody reads");
    written += n;
  }
  close(ends[1]);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) throw std::runtime_error("not passed on");
}

template <typename PassOn>
void Measure(benchmark::State& state, PassOn pass_on) {
  // So many bytes that the start of a process counts for little.
  const int64_t bytes = (Smoke() ? 1 : 256) * kMebibyte;
  for (auto _ : state) WriteThrough(bytes, pass_on);
  state.SetBytesProcessed(state.iterations() * bytes);
}

void Floor(benchmark::State& state) {
  Measure(state, [](int from, int to) {
    dup2(from, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    execlp("cat", "cat", nullptr);
  });
}

void Exec(benchmark::State& state) {
  state.SetLabel("at most 1.5");
  Measure(state, [&](int from, int to) {
    auto output = std::make_shared<agent::RelayedOutput>();
    auto ring = agent::OutputRing::Create();
    if (!ring.ok()) _exit(1);
    output->from = from;
    output->to = to;
    output->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    output->over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    output->ring = *std::move(ring);
    const agent::Relay relay(output);
    pollfd over = {output->over, POLLIN, 0};
    _exit(poll(&over, 1, /*timeout=*/-1) == 1 ? 0 : 1);
  });
}

BENCHMARK(Floor)->Name("exec output, 256 MiB/floor")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Exec)->Name("exec output, 256 MiB/relay")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace rapideye::bench
