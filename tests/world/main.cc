// rapideye-world: makes captures of the second world, and judges the classifier by them.
#include <cstdint>
#include <iostream>
#include <string>

#include "CLI/CLI.hpp"
#include "classifier/classify.h"
#include "proto/capture/capture_writer.h"
#include "tests/world/kinds.h"
#include "tests/world/table.h"
#include "tests/world/truth.h"
#include "tests/world/world.h"

namespace {

using rapideye::world::Kinds;

void Explain(const rapideye::world::World& world) {
  std::cout << Describe(world.plan) << "alarm at " << world.alarm << " s, last launch completed at "
            << world.last_progress << " s, fault at " << world.fault.value_or(-1) << " s\n";
  const rapideye::Verdict verdict = rapideye::Classify(world.capture);
  std::cout << "said: " << CauseName(verdict.cause) << " " << DetailName(verdict.detail) << " "
            << verdict.confidence.value_or(0)
            << (verdict.removal.eligible ? ", eligible for removal" : "") << "\n";
  for (const rapideye::Culprit& culprit : verdict.culprits) {
    std::cout << "  names " << culprit.host << ": " << culprit.why << "\n";
  }
  for (const rapideye::Alternative& other : verdict.alternatives) {
    std::cout << (other.independent ? "beside it: " : "or: ") << CauseName(other.cause) << " "
              << DetailName(other.detail) << " " << other.confidence << ": " << other.why << "\n";
  }
  for (const rapideye::Reason& reason : verdict.reasons) {
    std::cout << "  " << reason.rule << " " << ReasonKindName(reason.kind) << ": " << reason.text
              << "\n";
  }
}

// Prints the activity that a right verdict gives its culprits, where the truth has another one.
void ListActivity(const rapideye::world::World& world, const std::string& kind,
                  const rapideye::Verdict& verdict, const rapideye::world::Judgement& judgement) {
  const auto& truth = world.plan.truth;
  if (!truth.activity.has_value() || judgement.activity ||
      verdict.cause == rapideye::Cause::kUnknown) {
    return;
  }
  std::cout << kind << " " << world.plan.seed << " " << world.plan.noise << " activity "
            << rapideye::HostActivityName(*truth.activity) << " ->";
  for (const rapideye::Culprit& culprit : verdict.culprits) {
    std::cout << " "
              << (culprit.host_activity ? rapideye::HostActivityName(*culprit.host_activity)
                                        : "none");
  }
  std::cout << "\n";
}

// Lists the worlds whose verdict is wrong, one a line: `truth` can be asked about each of them.
void ListWrong(uint64_t first, uint64_t last, int noise, const std::string& filter) {
  for (const auto& kind : Kinds()) {
    if (kind.name.find(filter) == std::string::npos) {
      continue;
    }
    for (uint64_t seed = first; seed < last; ++seed) {
      const auto world = rapideye::world::MakeWorld(kind.name, seed, noise);
      const rapideye::Verdict verdict = rapideye::Classify(world.capture);
      const auto judgement = rapideye::world::Judge(world.plan.truth, verdict);
      if (judgement.adds_wrongly) {
        std::cout << kind.name << " " << seed << " " << noise << " adds wrongly\n";
      }
      if (judgement.others_named < judgement.others) {
        std::cout << kind.name << " " << seed << " " << noise << " beside "
                  << CauseName(verdict.cause) << " " << DetailName(verdict.detail)
                  << ": not named\n";
      }
      if (judgement.cause && judgement.culprits && !judgement.removes_wrongly) {
        ListActivity(world, kind.name, verdict, judgement);
        continue;
      }
      std::cout << kind.name << " " << seed << " " << noise << " "
                << world.plan.truth.accepted.front().cause << " -> " << CauseName(verdict.cause)
                << " " << DetailName(verdict.detail)
                << (judgement.accuses_wrongly ? ", accuses" : "")
                << (judgement.removes_wrongly ? ", removes wrongly" : "") << ":";
      for (const rapideye::Culprit& culprit : verdict.culprits) {
        std::cout << " " << culprit.host;
      }
      std::cout << "\n";
    }
  }
}

int WriteOne(const std::string& kind, uint64_t seed, int noise, int times, bool describe) {
  bool known = false;
  for (const auto& one : Kinds()) {
    known |= one.name == kind;
  }
  if (!known) {
    std::cerr << "no kind is called " << kind << "; see rapideye-world kinds\n";
    return 2;
  }
  const auto world = rapideye::world::MakeWorld(kind, seed, noise, times);
  if (describe) {
    Explain(world);
    return 0;
  }
  const auto written = rapideye::wire::WriteCapture(world.capture, {});
  if (!written.ok()) {
    std::cerr << written.status() << "\n";
    return 1;
  }
  std::cout << *written;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Makes captures of jobs that hang, and judges the classifier by them.");
  app.require_subcommand(1);
  std::string kind;
  uint64_t seed = 1;
  uint64_t first = 0;
  uint64_t last = 20;
  int noise = -1;
  int times = 1;
  auto* capture = app.add_subcommand("capture", "Writes one capture, for rapideye diagnose");
  auto* truth = app.add_subcommand("truth", "Says what one world is and which verdict is right");
  for (CLI::App* one : {capture, truth}) {
    one->add_option("kind", kind)->required();
    one->add_option("seed", seed)->required();
    one->add_option("noise", noise, "0, 1 or 2")->required()->check(CLI::Range(0, 2));
    one->add_option("--times", times, "So many times the hosts, a power of two")
        ->check(CLI::Range(1, 4096));
  }
  auto* judge = app.add_subcommand("judge", "Judges a range of seeds; prints a table");
  judge->add_option("--first", first, "The first seed; below 1000 to tune rules by")
      ->capture_default_str();
  judge->add_option("--last", last, "The seed after the last")->capture_default_str();
  judge->add_option("--noise", noise, "0, 1 or 2; all if not given");
  judge->add_option("--kind", kind, "Only kinds whose name contains this");
  bool wrong = false;
  judge->add_flag("--wrong", wrong, "Lists the worlds that are judged wrongly, instead");
  auto* kinds = app.add_subcommand("kinds", "Lists the kinds");
  CLI11_PARSE(app, argc, argv);
  if (*kinds) {
    for (const auto& one : Kinds()) {
      std::cout << one.name << "\n";
    }
    return 0;
  }
  if (*judge) {
    rapideye::world::Figures figures;
    for (int level = 0; level < 3; ++level) {
      if (noise >= 0 && noise != level) {
        continue;
      }
      if (wrong) {
        ListWrong(first, last, level, kind);
      } else {
        JudgeSeeds(first, last, level, kind, figures);
      }
    }
    if (!wrong) {
      std::cout << Print(figures);
    }
    return 0;
  }
  return WriteOne(kind, seed, noise, times, truth->parsed());
}
