#include "agent/sources/hlo_dump/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "agent/sources/hlo_dump/limits.h"
#include "proto/common/gzip/gzip.h"
#include "proto/wire/limits.h"

namespace rapideye::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr char kPrint[] = "4f0b158bd9d6b8288169c67c4314b51b";

std::string Unzipped(const std::string& compressed) {
  return gzip::Decompress(compressed, wire::kMaxModuleTextBytes).value_or("not gzip");
}

class HloDumpTest : public testing::Test {
 protected:
  HloDumpTest() {
    path_ = testing::TempDir() + "hlo-dumps-XXXXXX";
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~HloDumpTest() override { fs::remove_all(path_); }

  // Writes each dump a minute after the one before.
  void Write(const std::string& file, const std::string& text) {
    std::ofstream(path_ + "/" + file) << text;
    fs::last_write_time(path_ + "/" + file, written_ += std::chrono::minutes(1));
  }

  absl::StatusOr<wire::ModuleText> Read(const std::optional<std::string>& module,
                                        const std::string& fingerprint = kPrint) const {
    return ReadModuleText(path_, module, fingerprint, kPatience, known_);
  }

  HloDumpReading List(const DumpLook& look = {}, const std::string& folder = "") {
    return ListHloDumps(path_ + folder, look, kPatience, known_);
  }

  std::string path_;
  DumpFingerprints known_;
  fs::file_time_type written_ = fs::file_time_type::clock::now() - std::chrono::hours(10);
};

TEST_F(HloDumpTest, TheOnlyDumpOfAModule) {
  Write("module_0001.jit_f.after_optimizations.txt", "HloModule jit_f\n");
  Write("module_0002.jit_g.after_optimizations.txt", "HloModule jit_g\n");
  Write("module_0001.jit_f.before_optimizations.txt", "HloModule before\n");
  const auto text = Read("jit_f");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->dump, "module_0001.jit_f.after_optimizations.txt");
  EXPECT_EQ(text->match, HloMatch::kOnlyDump);
  EXPECT_FALSE(text->cut);
  EXPECT_EQ(Unzipped(text->gzip), "HloModule jit_f\n");
  EXPECT_EQ(Unzipped(text->before_gzip), "HloModule before\n");
  EXPECT_THAT(text->flags_gzip, IsEmpty());
}

TEST_F(HloDumpTest, TheFilesOfTheSameCompilationComeWithIt) {
  for (const char* module : {"module_0001.jit_f.cl_1", "module_0002.jit_f.cl_1"}) {
    Write(absl::StrCat(module, ".flagfile"), absl::StrCat("--xla_a=", module, "\n"));
    Write(absl::StrCat(module, ".before_optimizations.txt"), absl::StrCat("HloModule ", module));
    Write(absl::StrCat(module, ".after_optimizations.txt"), "HloModule jit_f\n");
  }
  const auto text = Read("jit_f");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->dump, "module_0002.jit_f.cl_1.after_optimizations.txt");
  EXPECT_EQ(Unzipped(text->flags_gzip), "--xla_a=module_0002.jit_f.cl_1\n");
  EXPECT_EQ(Unzipped(text->before_gzip), "HloModule module_0002.jit_f.cl_1");
}

TEST_F(HloDumpTest, AFileThatDoesNotFitBesideTheTextIsLeftOut) {
  std::string noise(wire::ModuleText::kMaxBeforeGzipBytes + 100'000, ' ');
  uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  Write("module_0001.jit_f.flagfile", noise);
  Write("module_0001.jit_f.before_optimizations.txt", noise);
  Write("module_0001.jit_f.after_optimizations.txt", "HloModule jit_f\n");
  const auto text = Read("jit_f");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(Unzipped(text->gzip), "HloModule jit_f\n");
  EXPECT_THAT(text->flags_gzip, IsEmpty());
  EXPECT_THAT(text->before_gzip, IsEmpty());
}

TEST_F(HloDumpTest, OfSeveralTheLatest) {
  Write("module_0009.jit_f.after_optimizations.txt", "HloModule jit_f, old\n");
  Write("module_0004.jit_f.after_optimizations.txt", "HloModule jit_f, new\n");
  const auto text = Read("jit_f");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->match, HloMatch::kLatestDump);
  EXPECT_EQ(Unzipped(text->gzip), "HloModule jit_f, new\n");
}

TEST_F(HloDumpTest, AProgramOfTheHostComesLast) {
  Write("module_0003.jit_f.cl_933746096.after_optimizations.txt", "HloModule jit_f, chip\n");
  Write("module_0007.jit_f.cl_933746096.cpu_after_optimizations.txt", "HloModule jit_f, host\n");
  const auto of_chip = Read("jit_f");
  ASSERT_TRUE(of_chip.ok()) << of_chip.status();
  EXPECT_EQ(Unzipped(of_chip->gzip), "HloModule jit_f, chip\n");
  fs::remove(path_ + "/module_0003.jit_f.cl_933746096.after_optimizations.txt");
  const auto of_host = Read("jit_f");
  ASSERT_TRUE(of_host.ok()) << of_host.status();
  EXPECT_EQ(Unzipped(of_host->gzip), "HloModule jit_f, host\n");
}

TEST_F(HloDumpTest, TheOneThatHoldsTheFingerprintWhateverItsName) {
  const std::string held =
      absl::StrCat("HloModule jit_f, frontend_attributes={fingerprint=\"", kPrint, "\"}\n");
  Write("module_0001.jit_f.after_optimizations.txt", held);
  Write("module_0002.jit_f.after_optimizations.txt", "HloModule jit_f\n");
  for (const std::optional<std::string>& module :
       {std::optional<std::string>("jit_f"), std::optional<std::string>()}) {
    const auto text = Read(module);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(text->match, HloMatch::kFingerprint);
    EXPECT_EQ(text->dump, "module_0001.jit_f.after_optimizations.txt");
  }
  const HloDumpReading reading = List();
  EXPECT_THAT(reading.unavailable, IsEmpty());
  ASSERT_THAT(reading.programs, SizeIs(1));
  EXPECT_EQ(reading.programs[0].module, "jit_f");
  EXPECT_EQ(reading.programs[0].fingerprint, kPrint);
}

TEST_F(HloDumpTest, WhatIsNotThereIsSaidSo) {
  Write("module_0002.jit_g.after_optimizations.txt", "HloModule jit_g\n");
  EXPECT_THAT(Read("jit_f").status().ToString(), HasSubstr("none of 1 dumps in"));
  EXPECT_THAT(Read(std::nullopt).status().ToString(), HasSubstr("nobody knows which module"));
  EXPECT_THAT(
      ReadModuleText(path_ + "/none", "jit_f", kPrint, kPatience, known_).status().ToString(),
      HasSubstr("--xla_dump_to"));
  EXPECT_THAT(List({}, "/none").unavailable, HasSubstr("--xla_dump_to"));
  fs::remove(path_ + "/module_0002.jit_g.after_optimizations.txt");
  EXPECT_THAT(List().unavailable, HasSubstr("holds no module_"));
  Write("module_0001.jit_f.after_optimizations.txt", "");
  EXPECT_THAT(Read("jit_f").status().ToString(), HasSubstr("is empty"));
}

TEST_F(HloDumpTest, LinksAndOtherFilesAreNotOpened) {
  const std::string secret = path_ + "/secret";
  std::ofstream(secret) << "HloModule secret\n";
  fs::create_symlink(secret, path_ + "/module_0001.jit_f.after_optimizations.txt");
  ASSERT_EQ(mkfifo((path_ + "/module_0002.jit_f.after_optimizations.txt").c_str(), 0600), 0);
  fs::create_directory(path_ + "/module_0003.jit_f.after_optimizations.txt");
  EXPECT_TRUE(absl::IsNotFound(Read("jit_f").status()));
  Write("module_0004.jit_f.after_optimizations.txt", "HloModule jit_f\n");
  EXPECT_TRUE(Read("jit_f").ok());
}

TEST_F(HloDumpTest, ALongTextIsCut) {
  const std::string file = "module_0001.jit_f.after_optimizations.txt";
  Write(file, "HloModule jit_f\n");
  fs::resize_file(path_ + "/" + file, wire::kMaxModuleTextBytes + 1);
  const auto text = Read("jit_f");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(text->cut);
  EXPECT_THAT(Unzipped(text->gzip), SizeIs(wire::kMaxModuleTextBytes));
  fs::resize_file(path_ + "/" + file, wire::kMaxModuleTextBytes);
  EXPECT_FALSE(Read("jit_f")->cut);
}

TEST_F(HloDumpTest, ADeadlineIsKept) {
  Write("module_0001.jit_f.after_optimizations.txt", "HloModule jit_f\n");
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      ReadModuleText(path_, "jit_f", kPrint, absl::ZeroDuration(), known_).status()));
}

// A program of `devices` devices that holds a collective, or none.
std::string Program(const std::string& module, const std::string& value, int devices = 4,
                    bool collective = true) {
  return absl::StrCat("HloModule ", module, ", is_scheduled=true, num_partitions=", devices,
                      "\n\nENTRY %main.1 (p: f32[8]) -> f32[8] {\n",
                      "  %p = f32[8]{0} parameter(0)\n  %c = f32[] constant(", value, ")\n",
                      "  ROOT %r = f32[8]{0} ", collective ? "all-reduce" : "multiply",
                      "(%p, %c)\n}\n\n");
}

class HloDumpFingerprintTest : public HloDumpTest {
 protected:
  // "jit_f 2": names of modules, each with the number of its compilations.
  std::string Compiled(absl::Time since = absl::InfinitePast()) {
    reading_ = List({.fingerprints = true, .since = since});
    std::map<std::string, int> count;
    for (const DumpedProgram& program : reading_.compiled) ++count[program.module];
    return absl::StrJoin(count, ", ", absl::PairFormatter(" "));
  }

  HloDumpReading reading_;
};

TEST_F(HloDumpFingerprintTest, AreThoseOfTheTextsOfProgramsWithCollectives) {
  Write("module_0001.jit_step.cpu_after_optimizations.txt", Program("jit_step", "1"));
  Write("module_0002.jit_step.cpu_after_optimizations.txt", Program("jit_step", "2"));
  Write("module_0003.jit_step.cpu_after_optimizations.txt", Program("jit_step", "1"));
  Write("module_0004.jit_eval.cpu_after_optimizations.txt", Program("jit_eval", "1"));
  // Programs that a host computes by itself may differ from those of other hosts.
  Write("module_0005.jit_add.cpu_after_optimizations.txt", Program("jit_add", "1", 4, false));
  Write("module_0006.jit_sum.cpu_after_optimizations.txt", Program("jit_sum", "1", 2));
  Write("module_0007.jit_step.before_optimizations.txt", Program("jit_step", "3"));
  EXPECT_EQ(Compiled(), "jit_eval 1, jit_step 2");
  EXPECT_THAT(reading_.programs, IsEmpty());
  EXPECT_THAT(List().compiled, IsEmpty());

  // The text of the program is found by this fingerprint, too.
  for (const DumpedProgram& program : reading_.compiled) {
    if (program.module != "jit_eval") continue;
    EXPECT_EQ(Read("jit_eval", program.fingerprint)->match, HloMatch::kFingerprint);
  }
}

TEST_F(HloDumpFingerprintTest, OfOneDeviceThereAreNone) {
  Write("module_0001.jit_step.cpu_after_optimizations.txt", Program("jit_step", "1", 1));
  EXPECT_EQ(Compiled(), "");
}

// A module counts with all its compilations or none: half of them would look like other programs.
TEST_F(HloDumpFingerprintTest, ATextThatIsNotReadWholeTakesItsModuleAlong) {
  Write("module_0001.jit_step.cpu_after_optimizations.txt", Program("jit_step", "1"));
  Write("module_0004.jit_eval.cpu_after_optimizations.txt", Program("jit_eval", "1"));
  const std::string text = Program("jit_step", "2");
  Write("module_0002.jit_step.cpu_after_optimizations.txt", text.substr(0, text.size() - 4));
  EXPECT_EQ(Compiled(), "jit_eval 1");
  // The text counts once it is written to its end.
  Write("module_0002.jit_step.cpu_after_optimizations.txt", text);
  EXPECT_EQ(Compiled(), "jit_eval 1, jit_step 2");
  Write("module_0009.jit_step.cpu_after_optimizations.txt", "");
  fs::resize_file(path_ + "/module_0009.jit_step.cpu_after_optimizations.txt",
                  kMaxFingerprintedBytes + 1);
  EXPECT_EQ(Compiled(), "jit_eval 1");
}

TEST_F(HloDumpFingerprintTest, ThoseOfAnEarlierProcessDoNotCount) {
  Write("module_0001.jit_step.cpu_after_optimizations.txt", Program("jit_step", "1"));
  Write("module_0002.jit_step.cpu_after_optimizations.txt", Program("jit_step", "2"));
  const absl::Time second = absl::FromChrono(std::chrono::file_clock::to_sys(written_));
  EXPECT_EQ(Compiled(second - absl::Seconds(1)), "jit_step 1");
  EXPECT_EQ(Compiled(second - absl::Minutes(2)), "jit_step 2");
}

TEST_F(HloDumpFingerprintTest, EveryTextIsReadOnce) {
  const std::string file = "module_0001.jit_step.cpu_after_optimizations.txt";
  Write(file, Program("jit_step", "1"));
  Compiled();
  const std::string first = reading_.compiled.at(0).fingerprint;
  // Other bytes of the same size and time.
  std::ofstream(path_ + "/" + file) << Program("jit_step", "2");
  fs::last_write_time(path_ + "/" + file, written_);
  Compiled();
  EXPECT_EQ(reading_.compiled.at(0).fingerprint, first);
  Write(file, Program("jit_step", "2"));
  Compiled();
  EXPECT_NE(reading_.compiled.at(0).fingerprint, first);
}

TEST_F(HloDumpFingerprintTest, ANameThatNobodyCanPrintIsNone) {
  Write("module_0001.jit_step.cpu_after_optimizations.txt", Program("jit_\xff", "1"));
  EXPECT_EQ(Compiled(), "");
}

std::string StepWith(const std::string& opcode) {
  return absl::StrCat(
      "HloModule jit_step\n\nENTRY %main (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0)\n",
      "  ROOT %fusion.318 = f32[8] ", opcode, "(%p)\n}\n");
}

TEST_F(HloDumpTest, WhatACoreWaitsForAtAnInstruction) {
  InstructionWaits waits(path_);
  const InstructionsOfModules wanted = {{"jit_step", {"fusion.318", "p", "nowhere"}},
                                        {"jit_other", {"fusion.318"}}};
  EXPECT_THAT(waits.Find(wanted, kPatience), IsEmpty());

  Write("module_0001.jit_step.cl_7.after_optimizations.txt", StepWith("negate"));
  const WaitsOfInstructions found = waits.Find(wanted, kPatience);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found.at("jit_step").size(), 3U);
  EXPECT_EQ(found.at("jit_step").at("fusion.318").waits, HloWaits::kCompute);
  EXPECT_EQ(found.at("jit_step").at("nowhere").waits, std::nullopt);
  EXPECT_EQ(found.at("jit_step").at("p").waits, std::nullopt);
  // The module is compiled again, to another program.
  Write("module_0002.jit_step.cl_7.after_optimizations.txt", StepWith("all-reduce"));
  EXPECT_EQ(waits.Find(wanted, kPatience)["jit_step"]["fusion.318"].waits, HloWaits::kInSlice);
  // Dumps are read once, as long as their names and times say that none is new.
  EXPECT_EQ(waits.Find(wanted, absl::ZeroDuration()).size(), 0U) << "not even listed in no time";
  EXPECT_EQ(waits.Find({{"jit_step", {"fusion.318"}}}, kPatience)["jit_step"]["fusion.318"].waits,
            HloWaits::kInSlice);
}

std::string Assignment(const std::vector<int>& devices) {
  std::string text = absl::StrCat("num_replicas: 1\ndevice_assignment {\n  replica_count: 1\n",
                                  "  computation_count: ", devices.size(), "\n");
  for (const int device : devices) {
    absl::StrAppend(&text, "  computation_devices {\n    replica_device_ids: ", device, "\n  }\n");
  }
  return absl::StrCat(text, "}\nnum_partitions: ", devices.size(), "\n");
}

std::string PairsOfFour(const std::string& name) {
  return absl::StrCat("HloModule ", name, ", num_partitions=4\n\n",
                      "ENTRY %main (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0)\n",
                      "  %psum.7 = f32[8] all-reduce(%p), channel_id=1, ",
                      "replica_groups=[2,2]<=[4], use_global_device_ids=true\n",
                      "  ROOT %shift = f32[8] collective-permute(%psum.7), channel_id=2, ",
                      "source_target_pairs={{0,1},{1,2},{2,3}}\n}\n");
}

// The text numbers partitions; the execution options beside it say which devices those are.
TEST_F(HloDumpTest, WhoMeetsAtACollective) {
  InstructionWaits waits(path_);
  const InstructionsOfModules wanted = {{"jit_a", {"psum.7", "shift"}}, {"jit_b", {"psum.7"}}};
  Write("module_0001.jit_a.cl_7.after_optimizations.txt", PairsOfFour("jit_a"));
  Write("module_0001.jit_a.cl_7.execution_options.txt", Assignment({3, 0, 2, 1}));
  Write("module_0002.jit_b.cl_7.after_optimizations.txt", PairsOfFour("jit_b"));
  WaitsOfInstructions found = waits.Find(wanted, kPatience);
  const auto meeting = found["jit_a"]["psum.7"].meeting;
  ASSERT_NE(meeting, nullptr);
  EXPECT_EQ(meeting->groups, (std::vector<std::vector<int64_t>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(meeting->assignment, (std::vector<int64_t>{3, 0, 2, 1}));
  EXPECT_FALSE(meeting->pairs);
  const auto shift = found["jit_a"]["shift"].meeting;
  ASSERT_NE(shift, nullptr);
  EXPECT_EQ(shift->groups, (std::vector<std::vector<int64_t>>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_TRUE(shift->pairs);
  EXPECT_EQ(shift->partitions, 4);
  // Without an assignment the order of the devices is not known.
  EXPECT_EQ(found["jit_b"]["psum.7"].waits, HloWaits::kInSlice);
  EXPECT_EQ(found["jit_b"]["psum.7"].meeting, nullptr);
}

// The job puts a link in the place of its directory: an agent with more rights would send the
// programs of somebody else.
TEST_F(HloDumpTest, ALinkOfTheJobLeadsToNoDumpsOfOthers) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to give files away";
  constexpr uid_t kJob = 65534;
  Write("module_0001.jit_step.after_optimizations.txt", "HloModule jit_step");
  const std::string ours = path_;
  const std::string link = ours + "-link";
  fs::create_symlink(ours, link);
  path_ = link;
  EXPECT_TRUE(Read("jit_step").ok()) << Read("jit_step").status();
  ASSERT_EQ(lchown(link.c_str(), kJob, kJob), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(Read("jit_step").status())) << Read("jit_step").status();
  EXPECT_THAT(List().unavailable, HasSubstr("by a link of another user"));
  ASSERT_EQ(chown(ours.c_str(), kJob, kJob), 0);
  EXPECT_TRUE(Read("jit_step").ok()) << Read("jit_step").status();
  fs::remove(link);
  path_ = ours;
}

}  // namespace
}  // namespace rapideye::agent
