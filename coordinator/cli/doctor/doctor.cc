#include "coordinator/cli/doctor/doctor.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "coordinator/cli/doctor/host_facts.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"
#include "coordinator/cli/status_text.h"
#include "coordinator/cli/table.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/process/find_program.h"
#include "proto/common/process/run_process.h"
#include "proto/transport/identity.h"
#include "proto/transport/tls_files.h"

extern char** environ;

namespace rapideye::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Outcome = Check::Outcome;

constexpr absl::Duration kDoctorTimeout = absl::Seconds(10);
constexpr absl::Duration kAgentTimeout = absl::Seconds(60);
constexpr absl::Duration kPeerPatience = absl::Seconds(3);
constexpr absl::Duration kRenewBefore = absl::Hours(24 * 7);
constexpr size_t kMaxPrinted = 16 << 20;
constexpr char kAgent[] = "rapideye-agent";
// The port by which the runtimes of a job speak with each other across slices.
constexpr char kPeerPort[] = "8471";

std::string FindAgent() {
  return FindOnPath(kAgent, absl::StrCat(OwnFolder(), ":", PathVariable())).value_or("");
}

// Runs the agent once on this host, with the environment that it would have.
AgentAnswer AskAgent() {
  AgentAnswer answer{.program = FindAgent()};
  if (answer.program.empty()) return answer;
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const auto keep = [](std::string& text) {
    return [&text](std::string_view bytes) {
      text.append(bytes);
      return text.size() < kMaxPrinted;
    };
  };
  const ProcessOutcome outcome =
      RunProcess({.command = {answer.program, "--once", "--log-format=json"},
                  .environment = std::move(environment),
                  .output = keep(answer.snapshot),
                  .error_output = keep(answer.log),
                  .timeout = kAgentTimeout});
  if (!outcome.not_started.empty()) {
    answer.failure = absl::StrCat(answer.program, " could not be started: ", outcome.not_started);
  } else if (outcome.stopped != ProcessOutcome::Stopped::kNo) {
    answer.failure = absl::StrCat(answer.program, " --once did not end within ",
                                  absl::FormatDuration(kAgentTimeout));
  } else if (outcome.exit_status != 0) {
    answer.failure = absl::StrCat(answer.program, " --once exits with status ",
                                  outcome.exit_status.value_or(-1), ": ", answer.log);
  }
  return answer;
}

// The number of slices times the hosts of a slice, by libtpu's variables.
std::optional<int> WorkersOfEnvironment() {
  const char* slices = std::getenv("MEGASCALE_NUM_SLICES");
  const char* hosts = std::getenv("TPU_WORKER_HOSTNAMES");
  int count = 1;
  if (hosts == nullptr || *hosts == '\0') return std::nullopt;
  if (slices != nullptr && !absl::SimpleAtoi(slices, &count)) return std::nullopt;
  return count * static_cast<int>(std::vector<std::string>(absl::StrSplit(hosts, ',')).size());
}

// "host", "host:1", "[::1]:1", "::1".
std::pair<std::string, std::string> SplitPeer(const std::string& peer) {
  const size_t colon = peer.rfind(':');
  const bool bracketed = absl::StartsWith(peer, "[") && absl::StrContains(peer, ']');
  const bool with_port =
      colon != std::string::npos && (bracketed ? colon > peer.find(']') : colon == peer.find(':'));
  std::string host = peer.substr(0, with_port ? colon : std::string::npos);
  if (bracketed) host = host.substr(1, host.find(']') - 1);
  return {std::move(host), with_port ? peer.substr(colon + 1) : kPeerPort};
}

const char* Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRight:
      return "right";
    case Outcome::kWrong:
      return "WRONG";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

const char* ColourOf(Outcome outcome) {
  return outcome == Outcome::kRight ? "32" : outcome == Outcome::kWrong ? "31;1" : "33";
}

std::string JsonLines(const Checks& checks) {
  std::string text;
  for (const Check& check : checks) {
    const std::string outcome = absl::AsciiStrToLower(Name(check.outcome));
    text += digest::Dump(Json{{"check", check.subject}, {"outcome", outcome}, {"text", check.text}},
                         /*pretty=*/false) +
            "\n";
  }
  return text;
}

std::string Text(const Checks& checks, bool colours) {
  std::string text;
  for (const Check& check : checks) {
    const std::string outcome = absl::StrCat(Name(check.outcome));
    const std::string padding(9 - outcome.size(), ' ');
    absl::StrAppend(&text, colours ? absl::StrCat("\x1b[", ColourOf(check.outcome), "m") : "",
                    outcome, colours ? "\x1b[0m" : "", padding, Shown(check.subject), ": ",
                    ShownDocument(check.text), "\n");
  }
  return text;
}

absl::Status Write(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file.fail()) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path.string()));
}

std::string ReadSmall(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string DescribeHost() {
  utsname name{};
  uname(&name);
  return absl::StrCat(name.sysname, " ", name.release, " ", name.machine, "\n",
                      ReadSmall("/etc/os-release"));
}

}  // namespace

DoctorCommand::DoctorCommand(CLI::App& app)
    : Command(
          app, "doctor",
          "Find what on this host would keep the agent or the coordinator from working, and how "
          "to mend it") {
  coordinator_.AddTo(this->app(), kDoctorTimeout);
  AddFormat(format_, "output format; json: one object per line");
  program::AddFlag(this->app(), "state-dir", state_dir_,
                   "state directory of the coordinator, if it is to run on this host");
  program::AddFlag(this->app(), "peer", peers_,
                   "HOST or HOST:PORT of another worker; tries whether it can be reached from here "
                   "(port 8471 unless given); may be repeated")
      .WithoutVariable();
  program::AddFlag(this->app(), "record", record_,
                   "also writes what was found into this new directory, to send to support; it "
                   "holds names of hosts")
      .WithoutVariable();
}

Checks DoctorCommand::CheckTls() const {
  const transport::CredentialOptions& files = coordinator_.credentials;
  if (files.tls_cert.empty() && files.tls_key.empty() && files.tls_ca.empty()) {
    return {{"TLS", Outcome::kUnknown,
             "no --tls-cert, --tls-key, --tls-ca: only loopback may be spoken to without"}};
  }
  const absl::Status usable = transport::CheckTlsFiles(files.tls_cert, files.tls_key, files.tls_ca);
  if (!usable.ok()) return {{"TLS", Outcome::kWrong, std::string(usable.message())}};
  const absl::StatusOr<absl::Time> ends = transport::ReadExpiry("--tls-cert", files.tls_cert);
  if (!ends.ok()) return {{"TLS", Outcome::kWrong, std::string(ends.status().message())}};
  const auto names = transport::ReadNames("--tls-cert", files.tls_cert);
  if (!names.ok()) return {{"TLS", Outcome::kWrong, std::string(names.status().message())}};
  const std::string when = absl::FormatTime(absl::RFC3339_sec, *ends, absl::UTCTimeZone());
  if (*ends - absl::Now() < kRenewBefore) {
    return {{"TLS", Outcome::kWrong,
             absl::StrCat("the certificate ends at ", when,
                          ": renew it; the daemons take the new file by themselves")}};
  }
  return {{"TLS", Outcome::kRight,
           absl::StrCat("the files fit; the certificate is of ", transport::JoinNames(*names),
                        " and ends at ", when)}};
}

absl::Status DoctorCommand::Record(const Checks& checks, const AgentAnswer& agent) const {
  std::error_code error;
  if (!fs::create_directory(record_, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--record=", record_, ": ",
                     error ? error.message() : "it is there already; name a new directory"));
  }
  const fs::path folder = record_;
  for (const auto& [name, text] :
       {std::pair<const char*, std::string>{"checks.jsonl", JsonLines(checks)},
        {"snapshot.jsonl", agent.snapshot},
        {"agent.log", agent.log},
        {"host.txt", DescribeHost()}}) {
    if (absl::Status status = Write(folder / name, text); !status.ok()) return status;
  }
  return absl::OkStatus();
}

int DoctorCommand::Run() {
  Progress progress("examining this host");
  progress.Tell("asking its agent");
  const AgentAnswer agent = AskAgent();
  absl::StatusOr<CoordinatorClient> client = CoordinatorClient::Make(coordinator_);
  const absl::StatusOr<v1::GetStatusReply> status =
      client.ok() ? client->GetStatus() : absl::StatusOr<v1::GetStatusReply>(client.status());
  std::optional<int> workers;
  if (status.ok() && status->expected() > 0) workers = status->expected();

  Checks checks = JudgeAgent(agent);
  const auto add = [&checks](Checks more) {
    for (Check& check : more) checks.push_back(std::move(check));
  };
  add(JudgeCoordinator(status, WorkerOf(agent), WorkersOfEnvironment()));
  add(CheckTls());
  add(JudgeHost(ReadHostFacts(), workers));
  add(JudgeDirectory(ReadDirectoryFacts(state_dir_)));
  if (peers_.empty()) {
    checks.push_back({"network", Outcome::kUnknown,
                      "no other worker was tried; --peer=HOST shows whether a firewall stands "
                      "between that one and this host"});
  }
  std::vector<std::string> others = peers_;
  // A firewall is one possible reason for a coordinator that gives no status.
  if (!status.ok()) others.push_back(coordinator_.coordinator);
  for (const std::string& peer : others) {
    const auto [host, port] = SplitPeer(peer);
    progress.Tell(absl::StrCat("connecting to ", ShownPath(peer)));
    add(JudgePeer(TryPeer(host, port, kPeerPatience)));
  }
  if (!Print(format_ == "json" ? JsonLines(checks) : Text(checks, ObeysColours()))) {
    return program::kExitFailure;
  }
  if (!record_.empty()) {
    if (const absl::Status recorded = Record(checks, agent); !recorded.ok()) return Fail(recorded);
  }
  for (const Check& check : checks) {
    if (check.outcome == Outcome::kWrong) return program::kExitFailure;
  }
  return program::kExitOk;
}

}  // namespace rapideye::cli
