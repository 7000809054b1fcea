// rapideye-sim: runs simulations of consecutive seeds until one fails.
#include <google/protobuf/stubs/logging.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/sim/options.h"
#include "tests/sim/simulation.h"

namespace rapideye::sim {
namespace {

struct Settings {
  uint64_t seed = 1;
  uint64_t count = 1;
  int seconds = 0;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  size_t trace = 0;
  bool keep_going = false;
  bool liar = false;
};

// Prints the failures, and the events before them from a second run of the same seed.
void Report(const Options& options, const Outcome& outcome) {
  constexpr size_t kTail = 60;
  std::cout << "FAILED " << Describe(options) << "\n";
  for (const std::string& failure : outcome.failures) std::cout << "  " << failure << "\n";
  const Outcome again = Simulate(options, kTail);
  std::cout << (again.hash == outcome.hash ? "  before it:\n" : "  a replay DIFFERS; its end:\n");
  for (const std::string& line : again.trace) std::cout << "    " << line << "\n";
  std::cout << "  replay: rapideye-sim --seed=" << options.seed
            << (options.liar.has_value() ? " --liar" : "") << " --trace=100000\n";
}

// Runs the seeds on several threads, each seed on one of them.
class Runs {
 public:
  explicit Runs(const Settings& settings) : settings_(settings) {}

  void Run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < settings_.threads; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
  }
  uint64_t ran() const { return ran_; }
  uint64_t failed() const { return failed_; }

 private:
  void Work() {
    for (uint64_t i = next_++; i < settings_.count && !IsEnough(); i = next_++) {
      const uint64_t seed = settings_.seed + i;
      const Options options = settings_.liar ? DrawWithLiar(seed) : Draw(seed);
      const Outcome outcome = Simulate(options, settings_.trace);
      const std::lock_guard lock(mutex_);
      Take(options, outcome);
    }
  }

  bool IsEnough() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
    return (failed_ > 0 && !settings_.keep_going) ||
           (settings_.seconds > 0 && passed.count() > settings_.seconds);
  }

  void Take(const Options& options, const Outcome& outcome) {
    ++ran_;
    for (const std::string& verdict : outcome.wrong_verdicts) {
      std::cout << "seed " << options.seed << ": wrong verdict: " << verdict << "\n";
    }
    for (const std::string& line : outcome.trace) std::cout << line << "\n";
    if (settings_.count == 1) {
      std::cout << Describe(options) << "\n"
                << absl::StrFormat("%d hangs told of in %s, trace %016x\n", outcome.hangs,
                                   absl::FormatDuration(outcome.lasted), outcome.hash);
    }
    if (outcome.failures.empty()) return;
    ++failed_;
    Report(options, outcome);
  }

  const Settings& settings_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<uint64_t> next_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  std::mutex mutex_;  // guards the output, and:
  uint64_t ran_ = 0;
};

int Main(const Settings& settings) {
  // protobuf would tell standard error about each string of a hostile peer that is not UTF-8.
  google::protobuf::SetLogHandler(nullptr);
  Runs runs(settings);
  runs.Run();
  std::cout << runs.ran() << " simulations from seed " << settings.seed << ", " << runs.failed()
            << " failed\n";
  return runs.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rapideye::sim

int main(int argc, char** argv) {
  rapideye::sim::Settings settings;
  CLI::App app("Simulates a coordinator and its agents; every option follows from the seed.");
  app.add_option("--seed", settings.seed, "seed of the first simulation")->capture_default_str();
  app.add_option("--count", settings.count, "number of simulations, with consecutive seeds")
      ->capture_default_str();
  app.add_option("--seconds", settings.seconds,
                 "seconds after which no new simulation starts; 0: no limit")
      ->capture_default_str();
  app.add_option("--trace", settings.trace, "number of trace lines to print, the last ones")
      ->capture_default_str();
  app.add_option("--threads", settings.threads, "number of threads; each seed runs on one of them")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--liar", settings.liar, "one agent of a large job lies");
  app.add_flag("--keep-going", settings.keep_going, "continues after a failure");
  CLI11_PARSE(app, argc, argv);
  return rapideye::sim::Main(settings);
}
