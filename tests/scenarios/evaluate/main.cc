// rapideye-evaluate: how often the classifier is right on the scenario corpus.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "proto/capture/capture_writer.h"
#include "tests/scenarios/evaluate/report.h"
#include "tests/scenarios/mix.h"
#include "tests/scenarios/scenario.h"

namespace rapideye::scenarios {
namespace {

struct Settings {
  int count = 20000;
  uint64_t seed = 1;
  std::string mix = "flat";
  std::string noise = "on";
  std::string kind;  // "chip-tail" or "chip-tail/aborted"; empty: by the mix
  bool exporters = false;
  std::string names = "opcodes";
  bool texts = false;
  int wavefront_poll_ms = 0;
  int show_failures = 0;
  std::string dump;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::optional<uint64_t> only_seed;
};

constexpr std::string_view kAbortedSuffix = "/aborted";

// The scenario that a seed stands for: of the kind of --kind, or of a kind of the mix.
std::optional<Draw> DrawKind(const Settings& settings, const std::vector<Share>& mix,
                             uint64_t seed) {
  if (settings.kind.empty()) return DrawFrom(mix, seed);
  std::string_view name = settings.kind;
  const bool aborted = name.ends_with(kAbortedSuffix);
  if (aborted) name.remove_suffix(kAbortedSuffix.size());
  const std::optional<Kind> kind = KindByName(name);
  if (!kind) return std::nullopt;
  return Draw{*kind, aborted};
}

bool Dump(const Scenario& scenario, const std::string& directory) {
  const auto bytes = wire::WriteCapture(scenario.capture, {});
  if (!bytes.ok()) {
    std::cerr << "seed " << scenario.seed << ": " << bytes.status() << "\n";
    return false;
  }
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  const std::string path =
      absl::StrCat(directory, "/", std::string(KindName(scenario.kind)),
                   scenario.options.aborted ? "-aborted-" : "-", scenario.seed, ".jsonl");
  std::ofstream file(path, std::ios::binary);
  file << *bytes;
  file.close();
  if (!file) {
    std::cerr << "cannot write " << path << "\n";
    return false;
  }
  std::cout << path + "\n";
  return true;
}

std::string Repeat(const Settings& settings, const Scenario& scenario) {
  return absl::StrCat("--only-seed=", scenario.seed, " --kind=", RowName(scenario),
                      settings.noise == "on" ? "" : " --noise=" + settings.noise,
                      settings.exporters ? " --exporters" : "",
                      settings.names == "opcodes" ? "" : " --names=" + settings.names,
                      settings.texts ? " --texts" : "",
                      settings.wavefront_poll_ms > 0
                          ? absl::StrCat(" --wavefront=", settings.wavefront_poll_ms)
                          : "");
}

std::vector<Share> MixOf(const Settings& settings) {
  if (settings.mix == "realistic") return RealisticMix();
  if (settings.mix == "healthy") return HealthyMix();
  return FlatMix();
}

Noise NoiseOf(const Settings& settings) {
  if (settings.noise == "off") return NoiseFree();
  return settings.noise == "heavy" ? Heavy() : Noisy();
}

Naming NamingOf(const Settings& settings) {
  if (settings.names == "v5e") return Naming::kV5e;
  return settings.names == "shard-map" ? Naming::kShardMap : Naming::kOpcodes;
}

// Results of a part of the scenarios.
struct Tally {
  Report report;
  std::map<uint64_t, std::string> wrong;  // by seed: how to see it again, and what was said
  std::vector<std::string> reasons;       // of the verdict on --only-seed
  bool dumped = true;
};

void Judge(const Settings& settings, const Draw& draw, uint64_t seed, const Noise& noise,
           Tally& tally) {
  std::optional<int64_t> wavefront;
  if (settings.wavefront_poll_ms > 0) wavefront = settings.wavefront_poll_ms;
  const Scenario scenario = Generate(draw.kind, seed,
                                     {.noise = noise,
                                      .transfers = settings.exporters,
                                      .ici_links = settings.exporters,
                                      .wavefront_poll_ms = wavefront,
                                      .aborted = draw.aborted,
                                      .naming = NamingOf(settings),
                                      .texts = settings.texts ? Texts::kAll : Texts::kNone});
  if (!settings.dump.empty()) tally.dumped = Dump(scenario, settings.dump) && tally.dumped;
  const Verdict verdict = Classify(scenario.capture);
  const Grade grade = GradeVerdict(scenario.truth, verdict);
  tally.report.Add(scenario, verdict, grade);
  if (settings.only_seed) {
    for (const Reason& reason : verdict.reasons) {
      tally.reasons.push_back(absl::StrCat(reason.rule, ": ", reason.text));
    }
  }
  if (grade.reason.empty()) return;
  tally.wrong[seed] = absl::StrCat(Repeat(settings, scenario), ": ", grade.reason,
                                   grade.wrong_removal ? " WRONG REMOVAL" : "");
}

// Every thread takes each n-th seed, so that all have about the same to do. The
// output does not depend on the number of threads.
Tally JudgeAll(const Settings& settings) {
  const std::vector<Share> mix = MixOf(settings);
  const Noise noise = NoiseOf(settings);
  const uint64_t first = settings.only_seed.value_or(settings.seed);
  const auto count = static_cast<uint64_t>(settings.only_seed ? 1 : settings.count);
  const uint64_t threads = std::clamp<uint64_t>(settings.threads, 1, count);
  std::vector<Tally> tallies(threads);
  std::vector<std::thread> running;
  for (uint64_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      for (uint64_t seed = first + t; seed < first + count; seed += threads) {
        Judge(settings, *DrawKind(settings, mix, seed), seed, noise, tallies[t]);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  Tally all;
  for (const Tally& tally : tallies) {
    all.report.Merge(tally.report);
    all.wrong.insert(tally.wrong.begin(), tally.wrong.end());
    all.reasons.insert(all.reasons.end(), tally.reasons.begin(), tally.reasons.end());
    all.dumped = all.dumped && tally.dumped;
  }
  return all;
}

int Run(const Settings& settings) {
  if (!DrawKind(settings, MixOf(settings), 0)) {
    std::cerr << "--kind: there is no kind \"" << settings.kind << "\"; there are";
    for (const Kind kind : AllKinds()) std::cerr << " " << KindName(kind);
    std::cerr << ", each also with " << kAbortedSuffix << "\n";
    return 2;
  }
  const Tally all = JudgeAll(settings);
  for (const std::string& reason : all.reasons) std::cout << reason << "\n";
  int shown = 0;
  for (const auto& [seed, line] : all.wrong) {
    if (shown++ == settings.show_failures) break;
    std::cout << line << "\n";
  }
  std::cout << all.report.Render();
  return all.dumped ? 0 : 1;
}

int Main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Measures the classifier on made-up hangs whose truth is known."};
  app.option_defaults()->always_capture_default();
  app.add_option("--count", settings.count, "number of scenarios")->check(CLI::PositiveNumber);
  app.add_option("--seed", settings.seed, "seed of the first scenario; the others follow");
  app.add_option("--mix", settings.mix, "mix of the kinds of scenario")
      ->check(CLI::IsMember({"flat", "realistic", "healthy"}));
  app.add_option("--noise", settings.noise, "gaps in the evidence, and faults of bystanders")
      ->check(CLI::IsMember({"on", "off", "heavy"}));
  app.add_option("--kind", settings.kind,
                 "makes only this kind, such as chip-tail or chip-tail/aborted");
  app.add_flag("--exporters", settings.exporters, "adds transfers and ICI links to the captures");
  app.add_option("--names", settings.names, "names of the instructions at which cores stand")
      ->check(CLI::IsMember({"opcodes", "v5e", "shard-map"}));
  app.add_flag("--texts", settings.texts,
               "gives agents the texts of the programs: with --names=v5e and --names=shard-map");
  app.add_option("--wavefront", settings.wavefront_poll_ms,
                 "milliseconds between polls that date the stop of each core; 0: no dates")
      ->check(CLI::Range(0, 60000));
  app.add_option("--show-failures", settings.show_failures, "number of wrong verdicts to print");
  app.add_option("--dump", settings.dump, "directory to write the captures to");
  app.add_option("--threads", settings.threads, "number of threads")->check(CLI::Range(1, 1024));
  app.add_option("--only-seed", settings.only_seed,
                 "runs this one scenario and prints the verdict's reasons");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return Run(settings);
}

}  // namespace
}  // namespace rapideye::scenarios

int main(int argc, char** argv) { return rapideye::scenarios::Main(argc, argv); }
