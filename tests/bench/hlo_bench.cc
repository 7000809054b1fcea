// Measures how long it takes to compare the texts of two compilations of 1 MB, and to find what
// every instruction of a text waits for, against reading the bytes and finding their lines.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "classifier/hlo/difference.h"
#include "classifier/hlo/module.h"
#include "classifier/hlo/waits.h"
#include "tests/support/hlo_samples.h"

namespace rapideye::bench {
namespace {

constexpr size_t kTextBytes = 1 << 20;

// A real program, its computations repeated up to kTextBytes; `marker` alters a line of its entry.
std::string Program(std::string_view marker) {
  const std::string sample = ReadHloSample(RAPIDEYE_HLO_SAMPLES, "dense-v5e.txt.gz");
  const size_t computations = sample.find("\n%") + 1;
  const size_t entry = sample.find("\nENTRY ") + 1;
  std::string text = sample.substr(0, computations);
  const std::string_view copied =
      std::string_view(sample).substr(computations, entry - computations);
  text += copied;
  // Names are unique in a module.
  for (int copy = 1; text.size() + sample.size() - entry < kTextBytes; ++copy) {
    size_t at = 0;
    while (at < copied.size()) {
      size_t end = copied.find('\n', at);
      end = end == std::string_view::npos ? copied.size() : end + 1;
      std::string_view line = copied.substr(at, end - at);
      if (line.starts_with('%')) {
        const size_t name = line.find(' ');
        absl::StrAppend(&text, std::string(line.substr(0, name)), ".copy", copy);
        line.remove_prefix(name);
      }
      text += line;
      at = end;
    }
  }
  text += sample.substr(entry);
  const size_t last = text.rfind("ROOT ");
  return text.replace(last, 5, absl::StrCat("ROOT ", std::string(marker)));
}

size_t Lines(std::string_view text) {
  size_t lines = 0;
  for (const char* at = text.data();
       (at = static_cast<const char*>(
            std::memchr(at, '\n', static_cast<size_t>(text.end() - at)))) != nullptr;
       ++at) {
    ++lines;
  }
  return lines;
}

void Floor(benchmark::State& state) {
  const std::string left = Program("");
  const std::string right = Program("%other");
  for (auto _ : state) {
    benchmark::DoNotOptimize(Lines(left));
    benchmark::DoNotOptimize(Lines(right));
  }
}

void Compare(benchmark::State& state) {
  state.SetLabel("at most 20 ms");
  const std::string left = Program("");
  const std::string right = Program("%other");
  for (auto _ : state) {
    benchmark::DoNotOptimize(classifier::CompareHlo({left, false}, {right, false}));
  }
}

// Every name differs, so that the texts have nothing in common byte for byte.
void CompareRenamed(benchmark::State& state) {
  state.SetLabel("at most 20 ms");
  const std::string left = Program("");
  std::string right = left;
  for (size_t at = right.find("%fusion."); at != std::string::npos;
       at = right.find("%fusion.", at)) {
    right[at + 1] = 'g';
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(classifier::CompareHlo({left, false}, {right, false}));
  }
}

void Waits(benchmark::State& state) {
  const std::string text = Program("");
  for (auto _ : state) {
    const auto module = classifier::ParseHloModule(text);
    classifier::HloWaitAnalysis analysis(*module);
    for (size_t c = 0; c < module->computations.size(); ++c) {
      for (size_t i = 0; i < module->computations[c].instructions.size(); ++i) {
        benchmark::DoNotOptimize(analysis.Of(static_cast<int>(c), static_cast<int>(i)));
      }
    }
  }
}

BENCHMARK(Floor)->Name("hlo, two texts of 1 MB/floor")->Unit(benchmark::kMillisecond);
BENCHMARK(Compare)->Name("hlo, two texts of 1 MB/compare")->Unit(benchmark::kMillisecond);
BENCHMARK(CompareRenamed)->Name("hlo, two texts of 1 MB/renamed")->Unit(benchmark::kMillisecond);
BENCHMARK(Waits)->Name("hlo, two texts of 1 MB/waits")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rapideye::bench
