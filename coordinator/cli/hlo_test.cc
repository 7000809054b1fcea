// Tests run `rapideye hlo` as a shell would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/run_program.h"

namespace rapideye::cli {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string SamplePath(const std::string& file) {
  return std::string(std::getenv("RAPIDEYE_TEST_DATA")) + "/" + file;
}

constexpr char kText[] = R"(HloModule jit_step, num_partitions=4

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %psum.7 = f32[8]{0} all-reduce(%p), channel_id=3, replica_groups=[2,2]<=[4], to_apply=%add
  ROOT %fusion.2 = f32[8]{0} negate(%psum.7)
}
)";

ordered_json JsonOf(const Result& result) {
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const ordered_json json = ordered_json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << result.out;
  return json;
}

std::string Gzipped(const std::string& name, const std::string& content) {
  const std::string path = TempPath(name);
  gzFile file = gzopen(path.c_str(), "wb");
  EXPECT_EQ(gzwrite(file, content.data(), static_cast<unsigned>(content.size())),
            static_cast<int>(content.size()));
  gzclose(file);
  return path;
}

TEST(HloCommand, EveryInstructionOfAText) {
  const std::string path = File("step.txt", kText);
  const ordered_json json = JsonOf(Rapideye({"hlo", path, "--json"}));
  EXPECT_EQ(json, ordered_json::parse(R"({"module":"jit_step","instructions":[
    {"computation":"main","instruction":"p","opcode":"parameter","groups":[]},
    {"computation":"main","instruction":"psum.7","opcode":"all-reduce","waits":"in-slice",
     "groups":[[0,1],[2,3]],"channel":3},
    {"computation":"main","instruction":"fusion.2","opcode":"negate","waits":"compute",
     "groups":[]}],"complete":true})"));
  EXPECT_EQ(Rapideye({"hlo", path, "--format=json"}).out, Rapideye({"hlo", path, "--json"}).out);
  EXPECT_EQ(Rapideye({"hlo", "-", "--json"}, -1, path).out, Rapideye({"hlo", path, "--json"}).out);
  EXPECT_EQ(Rapideye({"hlo", Gzipped("step.txt.gz", kText), "--json"}).out,
            Rapideye({"hlo", path, "--json"}).out);
  EXPECT_THAT(Rapideye({"hlo", path}).out,
              HasSubstr("main\tpsum.7\tall-reduce\tin-slice\t{0,1},{2,3}\n"));
}

TEST(HloCommand, ATextThatWasCutIsIncomplete) {
  const std::string text = kText;
  const std::string path = File("cut.txt", text.substr(0, text.find("channel_id")));
  const Result result = Rapideye({"hlo", path, "--json"});
  EXPECT_EQ(JsonOf(result)["complete"], false);
  EXPECT_THAT(Rapideye({"hlo", path}).err, HasSubstr("not whole"));
}

TEST(HloCommand, WhatIsNoHloExitsWith2) {
  const std::vector<std::string> paths = {File("other.txt", "no program\n"), TempPath("absent.txt"),
                                          std::filesystem::temp_directory_path().string()};
  for (const std::string& path : paths) {
    const Result result = Rapideye({"hlo", path, "--json"});
    EXPECT_EQ(result.exit_status, 2) << path;
    EXPECT_THAT(result.err, HasSubstr(std::filesystem::path(path).filename().string()));
    const std::string step = path == paths[0] ? "no text of a module" : "XLA_FLAGS=--xla_dump_to";
    EXPECT_THAT(result.err, HasSubstr(step));
    EXPECT_EQ(Rapideye({"hlo", File("whole.txt", kText), path}).exit_status, 2) << path;
  }
  std::ifstream file(Gzipped("broken.txt.gz", kText), std::ios::binary);
  const std::string gzip{std::istreambuf_iterator<char>(file), {}};
  const Result cut = Rapideye({"hlo", File("cut.txt.gz", gzip.substr(0, gzip.size() - 12))});
  EXPECT_EQ(cut.exit_status, 2);
  EXPECT_EQ(Rapideye({"hlo"}).exit_status, 2);
  EXPECT_EQ(Rapideye({"hlo", "a", "b", "c"}).exit_status, 2);
}

// A line of pairs.tsv.
struct Pair {
  std::string left;
  std::string right;
  std::string outcome;
  std::string names;  // the sentence holds one of these names: a|b
};

std::vector<Pair> SamplePairs() {
  std::vector<Pair> pairs;
  std::ifstream file(SamplePath("pairs.tsv"));
  std::string row;
  std::getline(file, row);
  while (std::getline(file, row)) {
    std::istringstream columns(row);
    Pair pair;
    std::getline(columns, pair.left, '\t');
    std::getline(columns, pair.right, '\t');
    std::getline(columns, pair.outcome, '\t');
    std::getline(columns, pair.names, '\t');
    pairs.push_back(pair);
  }
  EXPECT_THAT(pairs, SizeIs(2));
  return pairs;
}

TEST(HloCommand, ThePairsOfTheSamples) {
  for (const Pair& pair : SamplePairs()) {
    const std::string left = SamplePath(pair.left + ".txt");
    const std::string right = SamplePath(pair.right + ".txt");
    for (const auto& [a, b] : {std::pair(left, right), std::pair(right, left)}) {
      const ordered_json json = JsonOf(Rapideye({"hlo", a, b, "--json"}));
      EXPECT_EQ(json["outcome"], pair.outcome);
      EXPECT_EQ(json["where"].is_null(), pair.names.empty());
      std::istringstream names(pair.names);
      bool named = pair.names.empty();
      for (std::string name; std::getline(names, name, '|');) {
        named = named || json["sentence"].get<std::string>().find(name) != std::string::npos;
      }
      EXPECT_TRUE(named) << json["sentence"];
    }
  }
}

// Writes the files that XLA leaves of a module in a directory of dumps.
void Dump(const std::string& folder, const std::string& module, const std::string& text,
          const std::string& flags) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/module_0001." + module + ".cl_7.after_optimizations.txt") << text;
  std::ofstream(folder + "/module_0001." + module + ".cl_7.before_optimizations.txt") << text;
  std::ofstream(folder + "/module_0001." + module + ".cl_7.flagfile") << flags;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(HloCommand, DirectoriesOfDumpsModuleByModule) {
  const std::string left = TempPath("left");
  const std::string right = TempPath("right");
  Dump(left, "jit_step", kText, "--a=1\n--xla_tpu_x=2\n");
  Dump(right, "jit_step", kText, "--a=1\n--xla_tpu_x=4\n");
  const ordered_json one = JsonOf(Rapideye({"hlo", left, right, "--json"}));
  EXPECT_EQ(one["outcome"], "equal") << "the outcome speaks of what was compiled";
  EXPECT_EQ(one["where"]["layer"], "flagfile");
  EXPECT_EQ(one["where"]["flag"], "xla_tpu_x");
  EXPECT_THAT(one["sentence"].get<std::string>(), StartsWith("flag xla_tpu_x is 2 on "));
  EXPECT_FALSE(one.contains("modules"));

  Dump(left, "jit_eval", Replaced(kText, "jit_step", "jit_eval"), "");
  Dump(right, "jit_eval", Replaced(Replaced(kText, "jit_step", "jit_eval"), "negate", "sine"), "");
  Dump(right, "jit_more", Replaced(kText, "jit_step", "jit_more"), "");
  const ordered_json all = JsonOf(Rapideye({"hlo", left, right, "--json"}));
  EXPECT_EQ(all["outcome"], "different");
  ASSERT_THAT(all["modules"], SizeIs(3));
  std::map<std::string, ordered_json> modules;
  for (const ordered_json& module : all["modules"]) modules[module["module"]] = module;
  EXPECT_EQ(modules["jit_step"]["outcome"], "equal");
  EXPECT_EQ(modules["jit_eval"]["where"]["layer"], "before_optimizations");
  EXPECT_THAT(modules["jit_eval"]["sentence"].get<std::string>(),
              AllOf(HasSubstr("negate"), HasSubstr("sine")));
  EXPECT_THAT(modules["jit_more"]["sentence"].get<std::string>(), HasSubstr("only "));
  EXPECT_THAT(Rapideye({"hlo", left, right}).out, HasSubstr("jit_step\tequal\tflag xla_tpu_x"));
  EXPECT_EQ(Rapideye({"hlo", left, SamplePath("kernels-v5e.txt")}).exit_status, 0);
}

TEST(HloCommand, TheSameTextIsEqual) {
  const std::string path = SamplePath("dense-v5e.txt.gz");
  const ordered_json json = JsonOf(Rapideye({"hlo", path, path, "--json"}));
  EXPECT_EQ(json["outcome"], "equal");
  EXPECT_TRUE(json["where"].is_null());
}

}  // namespace
}  // namespace rapideye::cli
