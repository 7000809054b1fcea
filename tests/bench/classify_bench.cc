// Measures what it costs to classify the hang of a job of 12,288 hosts, about as many as the
// largest jobs have, by what is wrong with it; and to write its digest. The floor counts the
// positions of its cores. All read the evidence of a capture file, as `rapideye diagnose` does.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "digest/digest.h"
#include "digest/render_html.h"
#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "tests/bench/smoke.h"
#include "tests/world/world.h"

namespace rapideye::bench {
namespace {

constexpr char kGoal[] = "60 ms (50 ms for 10,000 hosts)";
constexpr size_t kHosts = 12'288;

// Seeds whose jobs have all kinds of evidence, and 24 hosts or half of that.
struct Fault {
  const char* name;
  const char* kind;
  uint64_t seed;
};
constexpr Fault kFaults[] = {{"core stops", "core-in-compute", 7},
                             {"NIC dies", "nic-dies", 2},
                             {"process is killed", "process-killed", 7}};

// Writes the capture and reads it back: generated evidence lies scattered in memory as the world
// grew, whereas a reader makes one snapshot after the other.
Capture AsRead(const Capture& generated) {
  const auto written = wire::WriteCapture(generated, {.encoding = wire::Encoding::kBinary});
  if (written.ok()) {
    std::istringstream in(*written);
    auto read = wire::ReadCapture(in);
    if (read.ok()) return *std::move(read);
  }
  std::cerr << "the capture of this benchmark cannot be written and read back\n";
  std::exit(1);
}

// A small job where the benchmark is only seen to run.
const Capture& CaptureOf(const Fault& fault) {
  static std::map<std::string, Capture> made;
  const auto [found, is_new] = made.try_emplace(fault.name);
  if (is_new) {
    const size_t hosts =
        world::MakeWorld(fault.kind, fault.seed, 0).capture.header.expected_workers.size();
    const int times = Smoke() ? 2 : static_cast<int>(kHosts / hosts);
    found->second = AsRead(world::MakeWorld(fault.kind, fault.seed, 0, times).capture);
  }
  return found->second;
}

void Floor(benchmark::State& state, const Fault& fault) {
  const Capture& capture = CaptureOf(fault);
  for (auto _ : state) {
    std::map<std::pair<int64_t, int64_t>, int> places;
    for (const Snapshot& snapshot : capture.snapshots) {
      for (const Core& core : snapshot.cores) {
        for (const Sequencer& sequencer : core.sequencers) {
          ++places[{sequencer.tag.value_or(0), sequencer.pc.value_or(0)}];
        }
      }
    }
    benchmark::DoNotOptimize(places);
  }
}

void Classified(benchmark::State& state, const Fault& fault) {
  const Capture& capture = CaptureOf(fault);
  state.SetLabel(kGoal);
  for (auto _ : state) benchmark::DoNotOptimize(Classify(capture));
}

void Digest(benchmark::State& state, const Fault& fault) {
  const Capture& capture = CaptureOf(fault);
  const Verdict verdict = Classify(capture);
  for (auto _ : state) {
    const digest::Report report = digest::BuildReport(capture, verdict, {});
    benchmark::DoNotOptimize(digest::RenderText(report, digest::TextFormat::kClassic));
    benchmark::DoNotOptimize(digest::RenderJson(report, false));
    benchmark::DoNotOptimize(digest::RenderHtml(report));
  }
}

const bool registered = [] {
  for (const Fault& fault : kFaults) {
    const auto add = [&fault](const char* variant, void (*run)(benchmark::State&, const Fault&)) {
      benchmark::RegisterBenchmark(absl::StrCat("12,288 hosts, ", fault.name, "/", variant).c_str(),
                                   run, fault)
          ->Unit(benchmark::kMillisecond);
    };
    add("floor", Floor);
    add("classified", Classified);
    add("digest", Digest);
  }
  return true;
}();

}  // namespace
}  // namespace rapideye::bench
