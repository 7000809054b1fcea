#include "proto/common/flags/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>

#include "absl/synchronization/mutex.h"

namespace rapideye::program {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A program with one flag of each kind, run on a command line and environment.
class CommandLineTest : public testing::Test {
 protected:
  ~CommandLineTest() override {
    for (const std::string& name : variables_) unsetenv(name.c_str());
  }

  void SetVariable(const std::string& name, const std::string& value) {
    variables_.push_back(name);
    setenv(name.c_str(), value.c_str(), 1);
  }

  // The exit code, or -1 if the program would go on.
  int Run(std::vector<std::string> arguments) {
    CLI::App app("Does things.", "rapideye-test");
    AddFlag(app, "job", job_, "name of the job");
    AddFlag(app, "insecure", insecure_, "plaintext");
    AddFlag(app, "tasks", tasks_, "how many");
    AddFlag(app, "big", big_, "a large number");
    AddFlag(app, "small", small_, "a small number");
    AddFlag(app, "share", share_, "a share");
    AddFlag(app, "poll-interval", poll_interval_, "how often");
    AddFlag(app, "threshold", threshold_, "how long");
    AddFlag(app, "retain-bytes", retain_bytes_, "how much");
    AddFlag(app, "slice", slice_, "which");
    AddFlag(app, "log", logs_, "files");
    AddFlag(app, "format", format_, "form").Among({"text", "json"});
    AddShortcut(app, "json", format_, "json", "the same as --format=json");
    CLI::App& command = AddCommand(app, "diagnose", "Looks again.");
    AddFlag(command, "explain", explain_, "say why");
    AddArgument(command, "capture", captures_, "files");
    ConfigureApp(app);

    std::vector<char*> argv = {const_cast<char*>("rapideye-test")};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const std::optional<int> code = Parse(app, static_cast<int>(argv.size()), argv.data());
    out_ = testing::internal::GetCapturedStdout();
    error_ = testing::internal::GetCapturedStderr();
    return code.value_or(-1);
  }

  std::string job_ = "none";
  bool insecure_ = false;
  int32_t tasks_ = 4;
  int64_t big_ = 0;
  uint32_t small_ = 7;
  ByteSize retain_bytes_ = {int64_t{10} << 30};
  double share_ = 0.5;
  absl::Duration poll_interval_ = absl::Seconds(5);
  std::optional<absl::Duration> threshold_;
  std::optional<int32_t> slice_;
  std::vector<std::string> logs_;
  std::string format_ = "text";
  bool explain_ = false;
  std::vector<std::string> captures_;
  std::string out_;
  std::string error_;
  std::vector<std::string> variables_;
};

TEST_F(CommandLineTest, FlagWithNothingAfterItsEqualsSignIsRefused) {
  // Otherwise an empty flag would take the next argument for its value.
  EXPECT_EQ(Run({"--job=", "--insecure"}), kExitUsage);
  EXPECT_THAT(error_, AllOf(HasSubstr("--job="), HasSubstr("has no value")));
  EXPECT_EQ(Run({"--insecure="}), kExitUsage);
  EXPECT_EQ(Run({"--job=a=", "--insecure"}), -1);
  EXPECT_EQ(job_, "a=");
  EXPECT_TRUE(insecure_);
}

TEST_F(CommandLineTest, DefaultsStand) {
  EXPECT_EQ(Run({}), -1);
  EXPECT_EQ(job_, "none");
  EXPECT_EQ(poll_interval_, absl::Seconds(5));
  EXPECT_EQ(threshold_, std::nullopt);
  EXPECT_FALSE(insecure_);
}

TEST_F(CommandLineTest, TakesBothForms) {
  EXPECT_EQ(Run({"--job=a b", "--tasks", "8", "--big=9007199254740993", "--poll-interval", "500ms",
                 "--threshold=2m", "--slice=0", "--share=0.25", "--insecure"}),
            -1)
      << error_;
  EXPECT_EQ(job_, "a b");
  EXPECT_EQ(tasks_, 8);
  EXPECT_EQ(big_, 9007199254740993);
  EXPECT_EQ(poll_interval_, absl::Milliseconds(500));
  EXPECT_EQ(threshold_, absl::Minutes(2));
  EXPECT_EQ(slice_, 0);
  EXPECT_EQ(share_, 0.25);
  EXPECT_TRUE(insecure_);
}

TEST_F(CommandLineTest, TheLastOfTwoCountsAndListsCollect) {
  EXPECT_EQ(Run({"--job=a", "--job=b", "--log=x,y", "--log", "z"}), -1) << error_;
  EXPECT_EQ(job_, "b");
  EXPECT_THAT(logs_, ElementsAre("x,y", "z"));
}

TEST_F(CommandLineTest, SwitchesTakeNoFollowingWord) {
  EXPECT_EQ(Run({"--insecure", "diagnose", "--explain", "a.jsonl", "b.jsonl"}), -1) << error_;
  EXPECT_TRUE(insecure_);
  EXPECT_TRUE(explain_);
  EXPECT_THAT(captures_, ElementsAre("a.jsonl", "b.jsonl"));
}

TEST_F(CommandLineTest, SwitchesTakeTrueAndFalse) {
  insecure_ = true;
  EXPECT_EQ(Run({"--insecure=false"}), -1) << error_;
  EXPECT_FALSE(insecure_);
  EXPECT_EQ(Run({"--insecure=true"}), -1) << error_;
  EXPECT_TRUE(insecure_);
  EXPECT_EQ(Run({"--insecure=maybe"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("--insecure: 'maybe' is not true or false"));
}

TEST_F(CommandLineTest, AShortcutGivesItsText) {
  SetVariable("RAPIDEYE_FORMAT", "text");
  EXPECT_EQ(Run({"--json"}), -1) << error_;
  EXPECT_EQ(format_, "json");
  EXPECT_EQ(Run({"--json=false"}), -1) << error_;
  EXPECT_EQ(format_, "text");
}

TEST_F(CommandLineTest, AutoMeansEmpty) {
  threshold_ = absl::Seconds(1);
  EXPECT_EQ(Run({"--threshold=auto"}), -1) << error_;
  EXPECT_EQ(threshold_, std::nullopt);
}

TEST_F(CommandLineTest, TheEnvironmentStandsInForFlags) {
  SetVariable("RAPIDEYE_JOB", "from-env");
  SetVariable("RAPIDEYE_POLL_INTERVAL", "7s");
  SetVariable("RAPIDEYE_LOG", "a,b");
  SetVariable("RAPIDEYE_INSECURE", "1");
  SetVariable("RAPIDEYE_TASKS", "");
  EXPECT_EQ(Run({"--job=from-flag"}), -1) << error_;
  EXPECT_EQ(job_, "from-flag");
  EXPECT_EQ(poll_interval_, absl::Seconds(7));
  EXPECT_THAT(logs_, ElementsAre("a", "b"));
  EXPECT_TRUE(insecure_);
  EXPECT_EQ(tasks_, 4);  // empty counts as unset
}

TEST_F(CommandLineTest, SwitchesInTheEnvironment) {
  for (const auto& [text, value] : {std::pair("true", true),
                                    {"1", true},
                                    {"false", false},
                                    {"0", false},
                                    {"yes", true},
                                    {"no", false}}) {
    SetVariable("RAPIDEYE_INSECURE", text);
    insecure_ = !value;
    EXPECT_EQ(Run({}), -1) << error_;
    EXPECT_EQ(insecure_, value) << text;
  }
  SetVariable("RAPIDEYE_INSECURE", "perhaps");
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("RAPIDEYE_INSECURE: 'perhaps' is not true or false"));
}

TEST_F(CommandLineTest, WrongUseExits2AndSaysWhat) {
  const std::pair<std::string, std::string> cases[] = {
      {"--tasks=four", "--tasks: 'four' is not a whole number"},
      {"--tasks=2147483648", "--tasks: '2147483648' is not a whole number"},
      {"--tasks=4.0", "--tasks: '4.0' is not a whole number"},
      {"--tasks= 4", "--tasks: ' 4' is not a whole number"},
      {"--small=-1", "--small: '-1' is not a whole number that is not negative"},
      {"--share=much", "--share: 'much' is not a number"},
      {"--share=nan", "--share: 'nan' is not a number"},
      {"--poll-interval=5", "--poll-interval: '5' is not a duration such as"},
      {"--poll-interval=-5s", "--poll-interval: '-5s' is not a duration such as"},
      {"--poll-interval=inf", "--poll-interval: 'inf' is not a duration such as"},
      {"--threshold=soon", "--threshold: 'soon' is not 'auto' or a duration"},
      {"--format=xml", "--format: 'xml' is none of text, json\n"},
      {"--nonsense", "--nonsense"},
      {"word", "word"},
      {"--job", "--job"},
  };
  for (const auto& [argument, message] : cases) {
    EXPECT_EQ(Run({argument}), kExitUsage) << argument;
    EXPECT_THAT(error_, AllOf(HasSubstr("rapideye-test: "), HasSubstr(message),
                              HasSubstr("Run 'rapideye-test --help' for more.")));
    EXPECT_EQ(out_, "");
  }
}

TEST_F(CommandLineTest, ABadVariableExits2AndIsNamed) {
  SetVariable("RAPIDEYE_POLL_INTERVAL", "often");
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("RAPIDEYE_POLL_INTERVAL: 'often' is not a duration such as"));
  EXPECT_EQ(Run({"--poll-interval=5s"}), -1) << error_;  // the flag wins
  SetVariable("RAPIDEYE_FORMAT", "html");
  EXPECT_EQ(Run({"--poll-interval=5s"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("'html' of the variable RAPIDEYE_FORMAT is none of text, json"));
  EXPECT_EQ(Run({"--poll-interval=5s", "--format=json"}), -1) << error_;
}

TEST_F(CommandLineTest, HelpShowsDefaultsAndVariables) {
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_EQ(error_, "");
  EXPECT_THAT(out_, AllOf(HasSubstr("--poll-interval=DURATION"),
                          HasSubstr("how often [default: 5s; RAPIDEYE_POLL_INTERVAL]"),
                          HasSubstr("plaintext [default: false; RAPIDEYE_INSECURE]"),
                          HasSubstr("[default: auto; RAPIDEYE_THRESHOLD]"),
                          HasSubstr("which [default: none; RAPIDEYE_SLICE]"),
                          HasSubstr("files [repeatable; default: none; RAPIDEYE_LOG]"),
                          HasSubstr("--version"), HasSubstr("diagnose")));
}

TEST_F(CommandLineTest, SubcommandsHaveHelpOfTheirOwn) {
  EXPECT_EQ(Run({"diagnose", "--help"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("say why [default: false; RAPIDEYE_EXPLAIN]"));
}

// Without the setting this would end the process.
TEST_F(CommandLineTest, NobodyWatchesTheOrderOfLocks) {
  CLI::App app("does nothing", "program");
  ConfigureApp(app);
  absl::Mutex a;
  absl::Mutex b;
  {
    const absl::MutexLock first(&a);
    const absl::MutexLock second(&b);
  }
  const absl::MutexLock first(&b);
  const absl::MutexLock second(&a);
}

TEST_F(CommandLineTest, PrintsItsVersion) {
  EXPECT_EQ(Run({"--version"}), kExitOk);
  EXPECT_EQ(Run({"-V"}), kExitOk);
  EXPECT_EQ(out_, VersionText("rapideye-test", std::nullopt) + "\n");
}

TEST(VersionTextTest, NamesTheProtocolOfWhoSpeaksIt) {
  EXPECT_THAT(VersionText("agent", 2), testing::StartsWith("agent " + Version() + " ("));
  EXPECT_THAT(VersionText("agent", 2), testing::EndsWith("protocol 2)"));
  EXPECT_THAT(VersionText("tool", std::nullopt), testing::Not(HasSubstr("protocol")));
}

TEST_F(CommandLineTest, SizesHaveUnits) {
  const std::pair<const char*, int64_t> sizes[] = {{"0", 0},
                                                   {"1048576", 1048576},
                                                   {"5kB", 5000},
                                                   {"5KiB", 5120},
                                                   {"500MB", 500000000},
                                                   {"3MiB", 3145728},
                                                   {"2GB", 2000000000},
                                                   {"1GiB", 1073741824},
                                                   {"8388607TiB", 9223370937343148032}};
  for (const auto& [text, bytes] : sizes) {
    EXPECT_EQ(Run({std::string("--retain-bytes=") + text}), -1) << text;
    EXPECT_EQ(retain_bytes_.bytes, bytes) << text;
  }
  for (const char* text : {"GiB", "-1", "+1", "1.5GiB", "10 GiB", "10G", "10gib", "8388608TiB",
                           "0x10", "1GiBB", "99999999999999999999"}) {
    EXPECT_EQ(Run({std::string("--retain-bytes=") + text}), kExitUsage) << text;
    EXPECT_THAT(error_, HasSubstr("a size such as 500MB or 10GiB")) << text;
  }
}

TEST_F(CommandLineTest, DefaultSizeIsShownInItsLargestUnit) {
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_THAT(out_, AllOf(HasSubstr("--retain-bytes=SIZE"), HasSubstr("[default: 10GiB; ")));
}

TEST_F(CommandLineTest, AFlagThatIsMistypedIsSuggested) {
  EXPECT_EQ(Run({"--pol-interval=5s"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("did you mean --poll-interval?"));
  EXPECT_EQ(Run({"diagnose", "--explian"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("did you mean --explain?"));
  EXPECT_EQ(Run({"--frobnicate"}), kExitUsage);
  EXPECT_THAT(error_, testing::Not(HasSubstr("did you mean")));
  EXPECT_THAT(error_, HasSubstr("there is no flag --frobnicate"));
  EXPECT_EQ(Run({"--explain", "diagnose"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("--explain stands behind the command: rapideye-test diagnose "
                                "--explain\n"));
}

TEST_F(CommandLineTest, AFlagWithoutVariableTakesNone) {
  SetVariable("RAPIDEYE_HOST", "of another program");
  CLI::App app("Does things.", "rapideye-test");
  std::string host = "none";
  AddFlag(app, "host", host, "which").WithoutVariable();
  ConfigureApp(app);
  char* argv[] = {const_cast<char*>("rapideye-test")};
  EXPECT_EQ(Parse(app, 1, argv), std::nullopt);
  EXPECT_EQ(host, "none");
  EXPECT_THAT(app.help(), testing::Not(HasSubstr("RAPIDEYE_HOST")));
}

}  // namespace
}  // namespace rapideye::program
