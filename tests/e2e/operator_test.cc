// Shows a real job to an operator's commands: in health, while it hangs, afterwards.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/e2e/fixture.h"
#include "tests/testbed/launcher/certificates.h"
#include "tests/testbed/launcher/child_process.h"
#include "tests/testbed/launcher/job.h"

namespace rapideye::testbed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::Duration kPatience = absl::Seconds(30);
// SIGTERM ends every program within this (deploy/COMMANDS.md).
constexpr absl::Duration kStopPromise = absl::Seconds(5);
constexpr char kAllThere[] = "\"connected\":6";

// Output of a command so far; the thread that reads the command writes it.
class Output {
 public:
  void Add(absl::string_view line) {
    const std::lock_guard lock(mutex_);
    absl::StrAppend(&text_, line, "\n");
  }
  std::string Text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

class Operator : public EndToEndTest {
 protected:
  void TearDown() override {
    job_.reset();  // it writes to the state directory
    EndToEndTest::TearDown();
  }
  void Start(const JobOptions& options) {
    absl::StatusOr<std::unique_ptr<Job>> job = Job::Start(options);
    ASSERT_TRUE(job.ok()) << job.status();
    job_ = *std::move(job);
    ASSERT_TRUE(job_->AwaitAllConnected(kPatience).ok());
    // Launches must be known to complete.
    ASSERT_TRUE(job_->Watch(absl::Seconds(3)).ok());
  }

  // Returns standard output and error of the command, which must end with `exit_status`.
  std::string Rapideye(std::vector<std::string> arguments, int exit_status = 0) {
    Output output;
    const auto command = Spawn(std::move(arguments), output);
    if (command == nullptr) return "";
    EXPECT_EQ(command->Wait(kPatience), exit_status << 8) << output.Text();
    return output.Text();
  }
  std::unique_ptr<ChildProcess> Spawn(std::vector<std::string> arguments, Output& output) {
    arguments.insert(arguments.begin(), absl::StrCat(job_->options().program_dir, "/rapideye"));
    auto command =
        ChildProcess::Spawn({.command = std::move(arguments),
                             .environment = {{"RAPIDEYE_COORDINATOR", job_->coordinator_address()}},
                             .log_path = "",
                             .on_line = [&output](absl::string_view line) { output.Add(line); }});
    EXPECT_TRUE(command.ok()) << command.status();
    return command.ok() ? *std::move(command) : nullptr;
  }

  static int Count(const std::string& said, const std::string& text) {
    int seen = 0;
    for (size_t at = said.find(text); at != std::string::npos; at = said.find(text, at + 1)) ++seen;
    return seen;
  }
  // Waits until the command has printed `text` this many times.
  void Await(const Output& output, const std::string& text, int times) {
    const absl::Time end = absl::Now() + kPatience;
    for (;;) {
      const std::string said = output.Text();
      if (Count(said, text) >= times) return;
      ASSERT_LT(absl::Now(), end) << said;
      absl::SleepFor(absl::Milliseconds(100));
    }
  }

  static std::string Read(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
  }

  std::unique_ptr<Job> job_;
};

TEST_F(Operator, LooksAtAHealthyJobWithoutDisturbingItsWatch) {
  const JobOptions options = Options(/*programs=*/1, /*seed=*/2).job;
  Start(options);
  EXPECT_THAT(Rapideye({"status"}),
              AllOf(HasSubstr("armed"), HasSubstr("6 of 6 connected"), HasSubstr("Slowest")));
  EXPECT_THAT(Rapideye({"status", "--watch", "--count=2", "--format=json"}),
              AllOf(HasSubstr("\"state\":\"ARMED\""), HasSubstr("\"connected\":6")));
  EXPECT_EQ(Rapideye({"incidents"}), "no incidents\n");

  const std::string capture = absl::StrCat(state_dir_, "/healthy.jsonl.gz");
  EXPECT_THAT(Rapideye({"snapshot", "--format=json", absl::StrCat("--capture=", capture)}),
              AllOf(HasSubstr("\"cause\": \"NO_HANG\""), HasSubstr("\"trigger\": \"operator\"")));
  EXPECT_THAT(Rapideye({"diagnose", capture}), HasSubstr("\"cause\":\"NO_HANG\""));
  EXPECT_EQ(Rapideye({"incidents"}), "no incidents\n");

  // The job is watched as before.
  const Injection injection =
      FindScenario("bad-chip")
          ->plan({.shape = options.shape, .programs = 1, .seed = 2, .step = job_->StepOfSlowest()});
  ASSERT_TRUE(Inject(*job_, injection).ok());
  const absl::StatusOr<std::string> directory = job_->AwaitIncident(kPatience);
  ASSERT_TRUE(directory.ok()) << directory.status();
  const std::string id = std::filesystem::path(*directory).filename();

  EXPECT_THAT(Rapideye({"incidents"}), AllOf(HasSubstr(id), HasSubstr("BAD_TPU_CHIP")));
  EXPECT_THAT(Rapideye({"incidents", "--cause=bad_tpu_chip"}), HasSubstr(id));
  EXPECT_EQ(Rapideye({"incidents", "--cause=bad-chip"}),
            "no incidents: none has the cause or detail 'bad-chip'; closest: BAD_TPU_CHIP, "
            "TENSOR_CORE\n");
  EXPECT_THAT(Rapideye({"incidents", "--host=tpu-host"}),
              HasSubstr("none names the host 'tpu-host'; closest: tpu-host-"));
  const std::string text = Rapideye({"show", id});
  EXPECT_EQ(text, Read(*directory + "/digest.txt"));
  EXPECT_THAT(text, HasSubstr("Potential cause: Bad TPU chips"));
  EXPECT_EQ(Rapideye({"show", "latest", "--format=json"}), Read(*directory + "/digest.json"));
  EXPECT_THAT(Rapideye({"show", id, "--format=html"}),
              AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr(id)));
  EXPECT_THAT(Rapideye({"show", "20000101T000000Z-00000000"}, 1), HasSubstr(id));

  // A look at a job that hangs gives the verdict anew, and raises no second incident.
  EXPECT_THAT(Rapideye({"status"}), AllOf(HasSubstr("WAITING"), HasSubstr(id)));
  EXPECT_THAT(Rapideye({"snapshot"}), HasSubstr("Potential cause: Bad TPU chips"));
  EXPECT_THAT(job_->Incidents(), ElementsAre(*directory));
  const absl::Status stopped = job_->Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
}

TEST_F(Operator, IsToldWhatToDoWithoutACoordinator) {
  Start(Options(/*programs=*/1, /*seed=*/3).job);
  Output output;
  const auto watch = Spawn({"status", "--watch", "--format=json"}, output);
  ASSERT_NE(watch, nullptr);
  Await(output, kAllThere, 1);
  ASSERT_TRUE(job_->EndCoordinator(Ending::kKilled).ok());
  EXPECT_THAT(Rapideye({"snapshot"}, 1),
              AllOf(HasSubstr("no coordinator at"), HasSubstr("is it running")));
  Await(output, "no coordinator at", 1);
  // A command that watches goes on, and sees the next coordinator.
  ASSERT_TRUE(job_->StartCoordinator().ok());
  ASSERT_TRUE(job_->AwaitAllConnected(kPatience).ok());
  const int before = Count(output.Text(), kAllThere);
  Await(output, kAllThere, before + 1);
  watch->Signal(SIGTERM);
  const absl::Time asked = absl::Now();
  EXPECT_EQ(watch->Wait(kPatience), 0);
  EXPECT_LT(absl::Now() - asked, kStopPromise);
}

TEST_F(Operator, SpeaksMutualTls) {
  JobOptions options = Options(/*programs=*/1, /*seed=*/4).job;
  options.tls = true;
  Start(options);
  EXPECT_THAT(Rapideye({"status"}, 1), HasSubstr("--tls-cert, --tls-key, --tls-ca"));
  const auto flags = [&options](Issuer issuer) {
    const TlsFiles files = CertificatesOf(options.state_dir, issuer);
    return std::vector<std::string>{"status", absl::StrCat("--tls-cert=", files.cert),
                                    absl::StrCat("--tls-key=", files.key),
                                    absl::StrCat("--tls-ca=", files.ca)};
  };
  EXPECT_THAT(Rapideye(flags(Issuer::kForeign), 1), HasSubstr("do both trust the same CA"));
  EXPECT_THAT(Rapideye(flags(Issuer::kOwn)), HasSubstr("6 of 6 connected"));
}

}  // namespace
}  // namespace rapideye::testbed
