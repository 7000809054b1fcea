#include "tests/scenarios/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "classifier/hlo/waits.h"
#include "tests/scenarios/mix.h"
#include "tests/scenarios/scenario.h"
#include "tests/support/hlo_samples.h"

namespace rapideye::scenarios {
namespace {

using ::testing::Gt;

// Without the first number: "all-gather.cloned.1.call-done", "psum".
std::string Unnumbered(std::string name) {
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    size_t end = dot + 1;
    while (end < name.size() &&
           (name[end] == '#' || std::isdigit(static_cast<unsigned char>(name[end])) != 0)) {
      ++end;
    }
    if (end > dot + 1) return name.erase(dot, end - dot);
  }
  return name;
}

// How often each name, with what it waits for, stands in the truth of these programs.
std::map<std::pair<std::string, std::string>, int> Counted(const RealNames& names) {
  std::map<std::pair<std::string, std::string>, int> counted;
  for (const std::string_view program : names.programs) {
    std::istringstream lines(ReadHloSample(std::string(program) + ".truth.tsv"));
    std::string computation, instruction, opcode, waits;
    while (std::getline(lines, computation, '\t') && std::getline(lines, instruction, '\t') &&
           std::getline(lines, opcode, '\t') && std::getline(lines, waits)) {
      ++counted[{Unnumbered(instruction), waits}];
    }
  }
  return counted;
}

TEST(RealNames, AreThoseOfTheSamplesAsOftenAsThere) {
  for (const RealNames* names :
       {&RealCollectives(Naming::kV5e), &RealCollectives(Naming::kShardMap), &RealComputes(),
        &RealSparseWork(), &RealInputs(), &RealReceives(), &RealSends()}) {
    const auto counted = Counted(*names);
    for (const RealName& one : names->names) {
      SCOPED_TRACE(one.name);
      const std::string waits(classifier::HloWaitsName(one.waits));
      const auto found = counted.find({Unnumbered(std::string(one.name)), waits});
      ASSERT_NE(found, counted.end()) << waits;
      EXPECT_EQ(found->second, one.places);
    }
  }
}

std::vector<Program> TwoPrograms() {
  Random random(7);
  int channel = 1;
  const ProgramRequest request{.module = "jit_f", .collectives = 3, .infeed = true};
  std::vector<Program> programs;
  programs.push_back(MakeProgram(request, random, channel));
  programs.push_back(programs.front());
  programs.push_back(programs.front());
  programs.back().module = "jit_g";
  return programs;
}

TEST(NamePlaces, OneInstructionOfAModuleHasOneName) {
  const std::vector<Program> before = TwoPrograms();
  int others = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Program> programs = before;
    NamePlaces(Naming::kV5e, Texts::kAll, seed, programs);
    std::set<std::string> names;
    for (size_t i = 0; i < programs[0].ops.size(); ++i) {
      EXPECT_EQ(programs[0].ops[i].hlo, programs[1].ops[i].hlo);
      EXPECT_EQ(programs[0].ops[i].hlo_waits, programs[1].ops[i].hlo_waits);
      EXPECT_TRUE(names.insert(programs[0].ops[i].hlo).second) << programs[0].ops[i].hlo;
      if (programs[0].ops[i].hlo != programs[2].ops[i].hlo) ++others;
    }
  }
  EXPECT_THAT(others, Gt(0));
}

TEST(NamePlaces, TextsTellWhatIsWaitedForAndNothingElse) {
  std::vector<Program> without = TwoPrograms();
  std::vector<Program> with = without;
  NamePlaces(Naming::kShardMap, Texts::kNone, 3, without);
  NamePlaces(Naming::kShardMap, Texts::kAll, 3, with);
  for (size_t i = 0; i < with[0].ops.size(); ++i) {
    EXPECT_EQ(with[0].ops[i].hlo, without[0].ops[i].hlo);
    EXPECT_TRUE(with[0].ops[i].hlo_waits.has_value());
    EXPECT_FALSE(without[0].ops[i].hlo_waits.has_value());
  }
}

// The names alone differ between the variants: the same job breaks in the same way.
TEST(NamePlaces, ChangeNothingElseInACapture) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Draw draw = DrawFrom(FlatMix(), seed);
    Options options{.noise = Noisy(), .aborted = draw.aborted};
    Scenario plain = Generate(draw.kind, seed, options);
    options.naming = Naming::kShardMap;
    options.texts = Texts::kAll;
    Scenario named = Generate(draw.kind, seed, options);
    for (Scenario* scenario : {&plain, &named}) {
      for (Snapshot& snapshot : scenario->capture.snapshots) {
        for (LogEvent& event : snapshot.log_events) event.hlo.reset();
        for (Core& core : snapshot.cores) {
          for (Sequencer& sequencer : core.sequencers) {
            if (sequencer.hlo.has_value()) sequencer.hlo = "";
            sequencer.hlo_waits.reset();
          }
        }
      }
    }
    EXPECT_TRUE(plain.capture == named.capture) << KindName(draw.kind) << " " << seed;
  }
}

}  // namespace
}  // namespace rapideye::scenarios
