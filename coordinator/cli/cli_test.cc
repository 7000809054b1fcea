// Runs the program as a shell would.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/test_certificates.h"

namespace rapideye::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kGood[] =
    R"({"header":{"version":1,"job":"llama","expectedWorkers":[{"slice":0,"task":0,"host":"h0"},{"slice":0,"task":1,"host":"h1"}],"detectedUnixMs":1790999660139}}
{"snapshot":{"worker":{"slice":0,"task":0},"host":"h0","runtime":{"state":"SERVING"}}}
)";
constexpr char kBroken[] =
    R"({"header":{"version":1,"job":"llama","expectedWorkers":[{"slice":0,"task":0,"host":"h0"}]}}
{"snapshot":{"worker":{"slice":0,"task":0},"host":"h0","processes":[{"pid":1,"exitedMsAgo":-5}]}}
)";

TEST(CliTest, WrongUseExitsWith2) {
  EXPECT_EQ(Rapideye({}).exit_status, 2);
  EXPECT_EQ(Rapideye({"diagnose"}).exit_status, 2);
  const Result unknown = Rapideye({"sttus"});
  EXPECT_EQ(unknown.exit_status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("'sttus'"));
  const std::string good = File("good.jsonl", kGood);
  EXPECT_EQ(Rapideye({"diagnose", good, "--format=yaml"}).exit_status, 2);
  EXPECT_EQ(Rapideye({"diagnose", good, "--digest-format=fancy"}).exit_status, 2);
  EXPECT_EQ(Rapideye({"diagnose", good, "--frmat=json"}).exit_status, 2);
  EXPECT_EQ(Rapideye({"diagnose", good, "--format=json"}).exit_status, 0);
}

TEST(CliTest, WrongUseIsToldWhereTheHelpIs) {
  EXPECT_THAT(Rapideye({"show"}).err, HasSubstr("Run 'rapideye show --help' for more."));
  EXPECT_THAT(Rapideye({"fleet", "history"}).err,
              HasSubstr("Run 'rapideye fleet history --help' for more."));
  EXPECT_THAT(Rapideye({"--nonsense"}).err, HasSubstr("Run 'rapideye --help' for more."));
}

TEST(CliTest, AnUnknownFlagIsToldWithItsPlace) {
  const Result before = Rapideye({"--foo", "status"});
  EXPECT_EQ(before.exit_status, 2);
  EXPECT_THAT(before.err, AllOf(StartsWith("rapideye: there is no flag --foo before a command; "),
                                HasSubstr("Run 'rapideye --help' for more.")));
  // A flag of the command, at the wrong place.
  EXPECT_THAT(Rapideye({"--coordinator=h:1", "status"}).err,
              StartsWith("rapideye: --coordinator stands behind the command: rapideye status "
                         "--coordinator=…\n"));
  const Result behind = Rapideye({"status", "--wach"});
  EXPECT_EQ(behind.exit_status, 2);
  EXPECT_THAT(behind.err,
              AllOf(StartsWith("rapideye status: there is no flag --wach; did you mean --watch?"),
                    HasSubstr("Run 'rapideye status --help' for more.")));
  EXPECT_THAT(Rapideye({"-x"}).err, StartsWith("rapideye: there is no flag -x\n"));
  EXPECT_THAT(Rapideye({"fleet", "--foo", "history"}).err,
              StartsWith("rapideye fleet: there is no flag --foo before a command; "));
  EXPECT_THAT(Rapideye({"status", "now"}).err,
              StartsWith("rapideye status: takes no argument 'now'\n"));
  EXPECT_THAT(Rapideye({}).err,
              AllOf(StartsWith("rapideye: a command is missing: status, "), HasSubstr("diagnose")));
  EXPECT_THAT(Rapideye({"fleet"}).err, StartsWith("rapideye fleet: a command is missing: "));
}

TEST(CliTest, WhatIsNoCaptureIsToldSo) {
  const Result text = Rapideye({"diagnose", File("notes.txt", "hello\n")});
  EXPECT_EQ(text.exit_status, 2);
  EXPECT_THAT(text.err, HasSubstr("nor is it a log"));
  const Result broken = Rapideye({"diagnose", File("broken.jsonl", kBroken)});
  EXPECT_THAT(broken.err, Not(HasSubstr("nor is it a log")));
  const Result folder = Rapideye({"diagnose", ::testing::TempDir()});
  EXPECT_EQ(folder.exit_status, 2);
  EXPECT_THAT(folder.err, HasSubstr("is a directory; name the files in it"));
}

TEST(CliTest, AFileThatIsNotThereIsToldWithWhatToGive) {
  for (const char* command : {"diagnose", "redact", "logs"}) {
    const Result result = Rapideye({command, "/nonexistent/capture"});
    EXPECT_EQ(result.exit_status, 2) << command;
    EXPECT_THAT(result.err,
                AllOf(StartsWith("rapideye: /nonexistent/capture: there is no such file; give "),
                      Not(HasSubstr("cannot open"))))
        << command;
  }
  // A worker's log that is missing is no silent worker.
  const Result beside =
      Rapideye({"diagnose", File("rank-0.log", "completed step: 1\ncompleted step: 2\n"),
                "/nonexistent/rank-1.log"});
  EXPECT_EQ(beside.exit_status, 2);
  EXPECT_THAT(beside.out, IsEmpty());
  EXPECT_THAT(beside.err, HasSubstr("/nonexistent/rank-1.log: there is no such file"));
}

TEST(CliTest, HelpAndVersion) {
  const Result help = Rapideye({"diagnose", "--help"});
  EXPECT_EQ(help.exit_status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("--format"), HasSubstr("RAPIDEYE_FORMAT"),
                              HasSubstr("--digest-format"), HasSubstr("--explain")));
  EXPECT_THAT(Rapideye({"--help"}).out, HasSubstr("diagnose"));
  const Result version = Rapideye({"--version"});
  EXPECT_EQ(version.exit_status, 0);
  EXPECT_THAT(version.out, Not(IsEmpty()));
}

TEST(CliTest, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(Rapideye({"help"}).out, Rapideye({"--help"}).out);
  EXPECT_EQ(Rapideye({"help", "fleet", "history"}).out,
            Rapideye({"fleet", "history", "--help"}).out);
  EXPECT_THAT(Rapideye({"help", "fleet", "history"}).out, HasSubstr("--fleet-db"));
  EXPECT_EQ(Rapideye({"version"}).out, Rapideye({"--version"}).out);
  const Result wrong = Rapideye({"help", "statsu"});
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'status'?"));
}

constexpr char kNobody[] = "--coordinator=127.0.0.1:1";  // nothing listens there

TEST(CliTest, ACaptureIsNotPrintedOnATerminal) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal) + unlockpt(terminal), 0);
  const int screen = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(screen, 0);
  const std::vector<std::string> show = {"show", "latest", kNobody, "--format=capture"};
  const Result refused = Rapideye(show, screen);
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err, HasSubstr("> ID.jsonl.gz"));
  EXPECT_EQ(Rapideye(show).exit_status, 1);  // it asks, and nobody answers
  close(screen);
  close(terminal);
}

TEST(CliTest, EveryCommandShowsItsFlagsWithDefaultAndVariable) {
  for (const char* command :
       {"status", "snapshot", "incidents", "show", "diagnose", "redact", "logs", "hlo"}) {
    const Result help = Rapideye({command, "--help"});
    EXPECT_EQ(help.exit_status, 0);
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("  --") != 0) continue;
      std::string rest = line;  // a long flag has its text in the next line
      if (line.find("[default: ") == std::string::npos) std::getline(lines, rest);
      EXPECT_THAT(rest, AllOf(HasSubstr("[default: "),
                              AnyOf(HasSubstr("RAPIDEYE_"), HasSubstr("; no variable]"))))
          << line;
    }
  }
}

TEST(CliTest, TheDoctorSaysOfEachThingWhetherItIsRight) {
  const std::string folder = testing::TempDir() + "cli_test_doctor";
  std::filesystem::remove_all(folder);
  const Result result = Rapideye({"doctor", "--coordinator=127.0.0.1:1", "--format=json",
                                  "--state-dir=" + folder + "/state", "--record=" + folder});
  EXPECT_EQ(result.exit_status, 1);  // there is no coordinator
  std::set<std::string> seen;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json check = nlohmann::json::parse(line);
    seen.insert(check["check"]);
    EXPECT_THAT(check["outcome"], AnyOf("right", "wrong", "unknown"));
    EXPECT_FALSE(check["text"].get<std::string>().empty());
  }
  for (const char* subject :
       {"agent", "training process", "TPU runtime", "coordinator", "TLS", "descriptors", "clock",
        "stacks", "tools", "kernel log", "state directory", "shape of the job", "network"}) {
    EXPECT_TRUE(seen.contains(subject)) << subject;
  }
  for (const char* file : {"checks.jsonl", "snapshot.jsonl", "agent.log", "host.txt"}) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + file)) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/state"));
  // A directory that exists may hold files of another run.
  EXPECT_THAT(Rapideye({"doctor", "--coordinator=127.0.0.1:1", "--record=" + folder}).err,
              HasSubstr("name a new directory"));
}

TEST(CliTest, TheDoctorSaysOfWhomACertificateIs) {
  transport::TestAuthority authority("authority");
  const std::string folder = testing::TempDir() + "cli_test_doctor_tls";
  std::filesystem::create_directories(folder);
  authority.WriteCa(folder + "/ca");
  const auto tls = [&](int days) {
    authority.Issue(folder + "/cert", folder + "/key", "rapideye://host/tpu-3", days);
    const Result result = Rapideye({"doctor", "--coordinator=127.0.0.1:1", "--format=json",
                                    "--tls-cert=" + folder + "/cert", "--tls-ca=" + folder + "/ca",
                                    "--tls-key=" + folder + "/key"});
    for (const auto& check : JsonLines(result.out)) {
      if (check["check"] == "TLS") {
        return check["outcome"].get<std::string>() + ": " + check["text"].get<std::string>();
      }
    }
    return std::string("nothing");
  };
  EXPECT_THAT(tls(30), AllOf(StartsWith("right: "), HasSubstr("rapideye://host/tpu-3")));
  EXPECT_THAT(tls(2), AllOf(StartsWith("wrong: "), HasSubstr("renew it")));
  EXPECT_THAT(tls(-1), AllOf(StartsWith("wrong: "), HasSubstr("has expired")));
}

TEST(CliTest, WhatTheDoctorRecordsHoldsNoSecret) {
  const std::string folder = testing::TempDir() + "cli_test_doctor_secret";
  std::filesystem::remove_all(folder);
  const std::string log = File("doctor-train.log",
                               "Traceback (most recent call last):\n"
                               "  File \"train.py\", line 3, in <module>\n"
                               "RuntimeError: no answer of https://me:secret-word@data.example/\n");
  setenv("RAPIDEYE_LOG", log.c_str(), 1);
  setenv("SOME_TOKEN", "secret-word", 1);
  Rapideye({"doctor", "--coordinator=127.0.0.1:1", "--record=" + folder});
  unsetenv("RAPIDEYE_LOG");
  unsetenv("SOME_TOKEN");
  EXPECT_THAT(Slurp(folder + "/snapshot.jsonl"), HasSubstr("RuntimeError: no answer of"));
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    EXPECT_THAT(Slurp(file.path()), Not(HasSubstr("secret-word"))) << file.path();
  }
}

TEST(CliTest, WithoutACoordinatorItSaysWhatToDo) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"status"},
                                                  {"status", "--watch", "--count=1"},
                                                  {"snapshot"},
                                                  {"incidents"},
                                                  {"show", "20261120T124419Z-5dc4d1c8"},
                                                  {"show", "latest"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back(kNobody);
    const Result result = Rapideye(arguments);
    EXPECT_EQ(result.exit_status, 1) << command[0];
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, AllOf(StartsWith("rapideye: no coordinator at 127.0.0.1:1"),
                                  HasSubstr("is --coordinator right")));
  }
}

TEST(CliTest, ErrorsAreRecordsIfAskedFor) {
  const Result result = Rapideye({"status", kNobody, "--log-format=json"});
  EXPECT_EQ(result.exit_status, 1);
  const auto record = JsonLines(result.err).at(0);
  EXPECT_EQ(record["level"], "error");
  EXPECT_EQ(record["program"], "rapideye");
}

TEST(CliTest, WrongFlagsOfTheCommandsThatAskExitWith2) {
  EXPECT_EQ(Rapideye({"show", kNobody}).exit_status, 2);  // no id
  EXPECT_EQ(Rapideye({"status", kNobody, "--format=html"}).exit_status, 2);
  EXPECT_EQ(Rapideye({"status", kNobody, "--watch", "--count=0"}).exit_status, 2);
  EXPECT_EQ(Rapideye({"incidents", kNobody, "--limit=-1"}).exit_status, 2);
  const Result plaintext = Rapideye({"status", "--coordinator=198.51.100.1:8490"});
  EXPECT_EQ(plaintext.exit_status, 2);
  EXPECT_THAT(plaintext.err, HasSubstr("--tls-cert"));
}

TEST(CliTest, OneObjectPerCaptureInTheOrderGiven) {
  const std::string a = File("a.jsonl", kGood);
  const std::string b = File("b.jsonl", kGood);
  const Result result = Rapideye({"diagnose", b, a, b});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  const auto objects = JsonLines(result.out);
  ASSERT_THAT(objects, SizeIs(3));
  EXPECT_EQ(objects[0].begin().key(), "capture");
  EXPECT_EQ(objects[0]["capture"], b);
  EXPECT_EQ(objects[1]["capture"], a);
  EXPECT_EQ(objects[2]["capture"], b);
  EXPECT_EQ(objects[0]["schemaVersion"], 1);
  EXPECT_EQ(objects[0]["job"], "llama");
  EXPECT_FALSE(objects[0].contains("explain"));
  // The path of a capture does not change its digest.
  EXPECT_EQ(objects[0]["incidentId"], objects[1]["incidentId"]);
}

TEST(CliTest, ABrokenCaptureIsNamedAndTheOthersAreDiagnosed) {
  const std::string good = File("good.jsonl", kGood);
  const std::string broken = File("broken.jsonl", kBroken);
  for (const char* format : {"--format=json", "--format=text"}) {
    const Result result = Rapideye({"diagnose", format, broken, good, "/does/not/exist"});
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr(broken + ": line 2: "), HasSubstr("exitedMsAgo"),
                                  HasSubstr("/does/not/exist: ")));
    EXPECT_THAT(result.out, AllOf(HasSubstr(good), Not(HasSubstr(broken))));
  }
}

TEST(CliTest, TextNamesTheCaptureIfThereAreSeveral) {
  const std::string good = File("good.jsonl", kGood);
  const Result one = Rapideye({"diagnose", "--format=text", good});
  EXPECT_EQ(one.exit_status, 0);
  EXPECT_THAT(one.out, AllOf(HasSubstr("\n  Full "), Not(HasSubstr("==>"))));
  const Result two = Rapideye({"diagnose", "--format=text", good, good});
  const std::string header = "==> " + good + " <==\n";
  EXPECT_EQ(two.out, header + one.out + "\n" + header + one.out);
}

TEST(CliTest, GroupedAndExplained) {
  const std::string good = File("good.jsonl", kGood);
  const Result result = Rapideye({"diagnose", "--format=text", "--explain", good});
  EXPECT_THAT(result.out, HasSubstr("\n  Explanation:\n"));
  EXPECT_TRUE(JsonLines(Rapideye({"diagnose", "--explain", good}).out)
                  .at(0)["explain"]["steps"]
                  .is_array());
  EXPECT_EQ(Rapideye({"diagnose", "--format=text", "--digest-format=grouped", good}).exit_status,
            0);
}

TEST(CliTest, HtmlIsAPageForOneCapture) {
  const std::string good = File("good.jsonl", kGood);
  const Result page = Rapideye({"diagnose", "--format=html", good});
  EXPECT_EQ(page.exit_status, 0);
  EXPECT_THAT(page.out, AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("</html>")));
  EXPECT_EQ(Rapideye({"diagnose", "--format=html", good, good}).exit_status, 2);
}

TEST(CliTest, TheEnvironmentGivesFlags) {
  const std::string good = File("good.jsonl", kGood);
  setenv("RAPIDEYE_FORMAT", "text", 1);
  EXPECT_THAT(Rapideye({"diagnose", good}).out, Not(StartsWith("{")));
  EXPECT_THAT(Rapideye({"diagnose", "--format=json", good}).out, StartsWith("{"));
  // Each command refuses a value that it does not know itself.
  setenv("RAPIDEYE_FORMAT", "html", 1);
  EXPECT_EQ(Rapideye({"diagnose", good}).exit_status, 0);
  EXPECT_EQ(Rapideye({"status", kNobody}).exit_status, 2);
  unsetenv("RAPIDEYE_FORMAT");
  setenv("RAPIDEYE_COORDINATOR", "127.0.0.1:1", 1);
  EXPECT_THAT(Rapideye({"status"}).err, HasSubstr("no coordinator at 127.0.0.1:1"));
  unsetenv("RAPIDEYE_COORDINATOR");
}

TEST(CliTest, OutputThatCannotBeWrittenIsAFailure) {
  const std::string good = File("good.jsonl", kGood);
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const Result on_full_disk = Rapideye({"diagnose", good}, full);
  close(full);
  EXPECT_EQ(on_full_disk.exit_status, 1);
  EXPECT_THAT(on_full_disk.err, HasSubstr("cannot write standard output: No space left on device"));

  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const Result without_reader = Rapideye({"diagnose", good}, ends[1]);
  close(ends[1]);
  EXPECT_EQ(without_reader.exit_status, 1);
  EXPECT_THAT(without_reader.err, HasSubstr("Broken pipe"));
}

}  // namespace
}  // namespace rapideye::cli
