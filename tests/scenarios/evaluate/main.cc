// rapideye-evaluate: how often the classifier is right on the scenario corpus.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "proto/wire/capture_writer.h"
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
  int show_failures = 0;
  std::string dump;
  std::optional<uint64_t> only_seed;
};

constexpr std::string_view kAbortedSuffix = "/aborted";

// Which scenario a seed stands for: the one of --kind, or one of the mix.
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
  std::cout << path << "\n";
  return true;
}

std::string Repeat(const Settings& settings, const Scenario& scenario) {
  return absl::StrCat("--only-seed=", scenario.seed, " --kind=", RowName(scenario),
                      settings.noise == "off" ? " --noise=off" : "",
                      settings.exporters ? " --exporters" : "");
}

int Run(const Settings& settings) {
  const std::vector<Share> mix = settings.mix == "realistic" ? RealisticMix() : FlatMix();
  Report report;
  int shown = 0;
  const uint64_t first = settings.only_seed.value_or(settings.seed);
  const int count = settings.only_seed ? 1 : settings.count;
  for (int i = 0; i < count; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    const std::optional<Draw> draw = DrawKind(settings, mix, seed);
    if (!draw) {
      std::cerr << "--kind: there is no kind \"" << settings.kind << "\"; there are";
      for (const Kind kind : AllKinds()) std::cerr << " " << KindName(kind);
      std::cerr << ", each also with " << kAbortedSuffix << "\n";
      return 2;
    }
    const Scenario scenario = Generate(draw->kind, seed,
                                       {.noise = settings.noise == "off" ? NoiseFree() : Noisy(),
                                        .transfers = settings.exporters,
                                        .ici_links = settings.exporters,
                                        .aborted = draw->aborted});
    if (!settings.dump.empty() && !Dump(scenario, settings.dump)) return 1;
    const Verdict verdict = Classify(scenario.capture);
    const Grade grade = GradeVerdict(scenario.truth, verdict);
    report.Add(scenario, verdict, grade);
    if (!grade.reason.empty() && shown < settings.show_failures) {
      ++shown;
      std::cout << Repeat(settings, scenario) << ": " << grade.reason
                << (grade.wrong_removal ? " WRONG REMOVAL" : "") << "\n";
    }
  }
  std::cout << report.Render();
  return 0;
}

int Main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Measures the classifier on made-up hangs whose truth is known."};
  app.option_defaults()->always_capture_default();
  app.add_option("--count", settings.count, "scenarios")->check(CLI::PositiveNumber);
  app.add_option("--seed", settings.seed, "seed of the first; the others follow");
  app.add_option("--mix", settings.mix, "shares of the kinds")
      ->check(CLI::IsMember({"flat", "realistic"}));
  app.add_option("--noise", settings.noise, "gaps and bystanders' faults")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--kind", settings.kind, "only this kind, such as chip-tail or chip-tail/aborted");
  app.add_flag("--exporters", settings.exporters, "captures hold transfers and ICI links");
  app.add_option("--show-failures", settings.show_failures, "print so many wrong verdicts");
  app.add_option("--dump", settings.dump, "write the captures into this directory");
  app.add_option("--only-seed", settings.only_seed, "this one scenario");
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
