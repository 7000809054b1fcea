#include "coordinator/cli/doctor/judge.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace rapideye::cli {
namespace {

using Json = nlohmann::json;
using Outcome = Check::Outcome;

// Descriptors that an agent or a coordinator needs for itself; a coordinator needs two more for
// each of the job's workers.
constexpr uint64_t kOwnDescriptors = 256;
constexpr absl::Duration kClockError = absl::Seconds(1);
constexpr int64_t kFreeBytes = int64_t{1} << 30;

Check JudgeDescriptors(const HostFacts& facts, std::optional<int> workers) {
  const uint64_t needed = kOwnDescriptors + 2 * static_cast<uint64_t>(workers.value_or(0));
  Check check{.subject = "descriptors", .outcome = Outcome::kRight, .text = {}};
  if (facts.descriptors_hard >= needed) {
    check.text = absl::StrCat("a program may have ", facts.descriptors_hard,
                              " (the daemons raise their limit to it by themselves)");
    return check;
  }
  check.outcome = Outcome::kWrong;
  check.text = absl::StrCat("a program may have ", facts.descriptors_hard, ", a coordinator of ",
                            workers.value_or(0), " workers needs ", needed,
                            ": raise the hard limit (LimitNOFILE=, ulimit -Hn)");
  return check;
}

Check JudgeClock(const HostFacts& facts) {
  if (!facts.clock_synchronised.has_value()) {
    return {"clock", Outcome::kUnknown, "the kernel does not say whether it is synchronised"};
  }
  if (!*facts.clock_synchronised) {
    return {"clock", Outcome::kWrong,
            "it is not synchronised: times of this host's log lines may not fit those of others; "
            "start chrony, ntpd or systemd-timesyncd (in a container: on its host)"};
  }
  const absl::Duration error = facts.clock_error.value_or(absl::ZeroDuration());
  if (error > kClockError) {
    return {"clock", Outcome::kWrong,
            absl::StrCat("it may be wrong by ", absl::FormatDuration(error),
                         ": its time servers have not been reached for long")};
  }
  return {"clock", Outcome::kRight,
          absl::StrCat("it is synchronised, to within ", absl::FormatDuration(error))};
}

Check JudgeTracing(const HostFacts& facts) {
  if (facts.may_trace) {
    return {"stacks", Outcome::kRight, "this user may read any process (CAP_SYS_PTRACE)"};
  }
  switch (facts.ptrace_scope.value_or(0)) {
    case 0:
      return {"stacks", Outcome::kRight,
              "processes of the same user may be read: run the agent as the user of the training "
              "process"};
    case 1:
      return {"stacks", Outcome::kWrong,
              "only an ancestor may read a process (kernel.yama.ptrace_scope=1): start the "
              "training by `rapideye-agent exec -- COMMAND`, or give the agent CAP_SYS_PTRACE"};
    case 2:
      return {"stacks", Outcome::kWrong,
              "only an administrator may read processes (kernel.yama.ptrace_scope=2): give the "
              "agent CAP_SYS_PTRACE"};
    default:
      return {"stacks", Outcome::kWrong,
              "nobody may read processes (kernel.yama.ptrace_scope=3), until the host restarts "
              "with another setting: stacks are left out"};
  }
}

Check JudgeTools(const HostFacts& facts) {
  if (facts.tools.size() == 2) return {"tools", Outcome::kRight, "eu-stack and py-spy are there"};
  const bool native =
      std::find(facts.tools.begin(), facts.tools.end(), "eu-stack") != facts.tools.end();
  const bool python =
      std::find(facts.tools.begin(), facts.tools.end(), "py-spy") != facts.tools.end();
  return {"tools", Outcome::kWrong,
          absl::StrCat(python ? ""
                              : "py-spy is not on the path (pip install py-spy): Python's "
                                "frames, which name the line of the program, are left out",
                       native || python ? "" : "; ",
                       native ? ""
                              : "eu-stack is not on the path (apt-get install elfutils): "
                                "native frames are left out")};
}

Check JudgeKernelLog(const HostFacts& facts) {
  if (facts.kernel_log.empty()) return {"kernel log", Outcome::kRight, "/dev/kmsg can be read"};
  return {"kernel log", Outcome::kWrong,
          absl::StrCat("/dev/kmsg: ", facts.kernel_log,
                       ": an out-of-memory kill and errors of a chip are not seen; give the agent "
                       "CAP_SYSLOG, and in a container the device")};
}

// Reads the agent's own log: its sources report there which data they cannot have.
void AddComplaints(const std::string& log, Checks& checks) {
  for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipWhitespace())) {
    const Json record = Json::parse(line, /*cb=*/nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || !record.contains("level") || !record.contains("message")) continue;
    if (!record["level"].is_string() || !record["message"].is_string()) continue;
    const std::string level = record["level"];
    if (level != "warning" && level != "error") continue;
    checks.push_back({"agent", level == "error" ? Outcome::kWrong : Outcome::kUnknown,
                      record["message"].get<std::string>()});
  }
}

Json SnapshotOf(const AgentAnswer& answer) {
  const Json json = Json::parse(answer.snapshot, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("snapshot") || !json["snapshot"].is_object()) return {};
  return json["snapshot"];
}

std::string TextIn(const Json& object, const char* name) {
  return object.is_object() && object.contains(name) && object[name].is_string()
             ? object[name].get<std::string>()
             : "";
}

Check JudgeRuntime(const Json& snapshot, bool has_process) {
  const Json runtime = snapshot.contains("runtime") ? snapshot["runtime"] : Json();
  const std::string state = TextIn(runtime, "state");
  if (state == "SERVING") return {"TPU runtime", Outcome::kRight, "it answers"};
  const std::string why =
      absl::StrCat(state.empty() ? "no word of it" : state,
                   TextIn(runtime, "detail").empty() ? "" : ": ", TextIn(runtime, "detail"));
  if (!has_process) {
    return {"TPU runtime", Outcome::kUnknown,
            absl::StrCat(why, "; it comes with the training process, which is not there")};
  }
  return {"TPU runtime", Outcome::kWrong,
          absl::StrCat(why,
                       "; the training process runs, so look at the port (--runtime, "
                       "TPU_RUNTIME_METRICS_PORTS) and at whether both share a network "
                       "namespace")};
}

void JudgeNics(const Json& snapshot, Checks& checks) {
  if (!snapshot.contains("nics") || !snapshot["nics"].is_array()) return;
  std::vector<std::string> up;
  for (const Json& nic : snapshot["nics"]) {
    const std::string name = TextIn(nic, "name");
    if (nic.is_object() && nic.contains("up") && nic["up"] == false) {
      checks.push_back(
          {"NIC", Outcome::kWrong, absl::StrCat(name, " is down: collectives that use it stand")});
    } else {
      up.push_back(name);
    }
  }
  if (!up.empty()) {
    checks.push_back({"NIC", Outcome::kRight, absl::StrCat(absl::StrJoin(up, ", "), " up")});
  }
}

// Says nothing of counters that are not read: the agent complains of them itself.
void JudgeSysfs(const Json& snapshot, Checks& checks) {
  if (!snapshot.contains("pcie") || !snapshot["pcie"].is_array() || snapshot["pcie"].empty()) {
    return;
  }
  checks.push_back(
      {"sysfs", Outcome::kRight,
       absl::StrCat("PCIe errors of ", snapshot["pcie"].size(), " chips are counted there")});
}

// Numbers of workers, as the coordinator and as the environment have them; absent: not known.
Check JudgeShape(std::optional<int> coordinator, std::optional<int> environment) {
  Check check{.subject = "shape of the job", .outcome = Outcome::kUnknown, .text = {}};
  if (!coordinator.has_value()) {
    check.text = "no coordinator says how many workers it expects";
  } else if (!environment.has_value()) {
    check.text = absl::StrCat("the coordinator expects ", *coordinator,
                              " workers; the environment of this host does not say how many "
                              "there are (TPU_WORKER_HOSTNAMES, MEGASCALE_NUM_SLICES)");
  } else if (*coordinator == *environment) {
    check.outcome = Outcome::kRight;
    check.text = absl::StrCat("coordinator and environment agree on ", *environment, " workers");
  } else {
    check.outcome = Outcome::kWrong;
    check.text = absl::StrCat("the coordinator expects ", *coordinator,
                              " workers, the environment of this host says ", *environment,
                              ": set --slices and --tasks-per-slice, or look for a host with "
                              "other variables");
  }
  return check;
}

}  // namespace

Checks JudgeHost(const HostFacts& facts, std::optional<int> workers) {
  return {JudgeDescriptors(facts, workers), JudgeClock(facts), JudgeTracing(facts),
          JudgeTools(facts), JudgeKernelLog(facts)};
}

Checks JudgeDirectory(const DirectoryFacts& facts) {
  Checks checks;
  const auto wrong = [&](const std::string& text) {
    checks.push_back({"state directory", Outcome::kWrong, absl::StrCat(facts.path, ": ", text)});
  };
  if (!facts.problem.empty()) wrong(absl::StrCat(facts.problem, "; set --state-dir"));
  if (facts.others_may_write) {
    wrong("every user may write there, and forge incidents: chmod o-w");
  }
  if (!facts.network_type.empty()) {
    wrong(absl::StrCat("it is on ", facts.network_type,
                       ", where SQLite loses what it was given: put the state on a local disk, "
                       "and the fleet's history into PostgreSQL (--fleet-db)"));
  }
  if (facts.free_bytes.value_or(kFreeBytes) < kFreeBytes) {
    wrong(absl::StrCat("only ", *facts.free_bytes >> 20,
                       " MiB are free; the captures of a large job need more"));
  }
  if (checks.empty()) {
    checks.push_back({"state directory", Outcome::kRight,
                      absl::StrCat(facts.path, facts.there ? " can be used" : " can be made")});
  }
  return checks;
}

Checks JudgePeer(const PeerFacts& facts) {
  using Answer = PeerFacts::Answer;
  const std::string subject = absl::StrCat("network to ", facts.peer);
  switch (facts.answer) {
    case Answer::kConnected:
      return {{subject, Outcome::kRight, "it answers"}};
    case Answer::kRefused:
      return {{subject, Outcome::kRight, "it can be reached; nobody listens there at the moment"}};
    case Answer::kSilent:
      return {{subject, Outcome::kWrong,
               absl::StrCat(
                   "no answer within ", facts.detail,
                   ": a firewall between the two drops packets, or the host is gone; "
                   "allow the port between all hosts of the job (on TPU VMs the rule of a slice "
                   "opens 8470, 8471, 8474, 8476 and 11211 alone)")}};
    case Answer::kUnreachable:
      return {
          {subject, Outcome::kWrong, absl::StrCat(facts.detail, ": look at routes and addresses")}};
    case Answer::kUnknownName:
      return {
          {subject, Outcome::kWrong, absl::StrCat("its name cannot be resolved: ", facts.detail)}};
    case Answer::kNotTried:
      break;
  }
  return {{subject, Outcome::kUnknown, absl::StrCat("it could not be tried: ", facts.detail)}};
}

Checks JudgeAgent(const AgentAnswer& answer) {
  if (answer.program.empty()) {
    return {{"agent", Outcome::kWrong,
             "there is no rapideye-agent beside this program or on the path: install it"}};
  }
  Checks checks;
  AddComplaints(answer.log, checks);
  if (!answer.failure.empty()) {
    checks.push_back({"agent", Outcome::kWrong, answer.failure});
    return checks;
  }
  const Json snapshot = SnapshotOf(answer);
  if (snapshot.is_null()) {
    checks.push_back(
        {"agent", Outcome::kWrong, absl::StrCat(answer.program, " --once printed no snapshot")});
    return checks;
  }
  if (const std::optional<OwnWorker> own = WorkerOf(answer)) {
    checks.push_back({"agent", Outcome::kRight,
                      absl::StrCat("it speaks for slice ", own->slice, " task ", own->task, " (",
                                   TextIn(snapshot, "host"), ")")});
  }
  const bool has_process = snapshot.contains("processes") && !snapshot["processes"].empty();
  checks.push_back(has_process
                       ? Check{"training process", Outcome::kRight, "the agent sees it"}
                       : Check{"training process", Outcome::kUnknown,
                               "none is seen: it has not started, or lies in another pid namespace "
                               "(shareProcessNamespace: true), or belongs to another user"});
  checks.push_back(JudgeRuntime(snapshot, has_process));
  JudgeNics(snapshot, checks);
  JudgeSysfs(snapshot, checks);
  return checks;
}

std::optional<OwnWorker> WorkerOf(const AgentAnswer& answer) {
  const Json snapshot = SnapshotOf(answer);
  if (!snapshot.contains("worker") || !snapshot["worker"].is_object()) return std::nullopt;
  const Json& worker = snapshot["worker"];
  const auto number = [&](const char* name) {
    return worker.contains(name) && worker[name].is_number_integer() ? worker[name].get<int>() : 0;
  };
  return OwnWorker{number("slice"), number("task")};
}

Checks JudgeCoordinator(const absl::StatusOr<v1::GetStatusReply>& status,
                        const std::optional<OwnWorker>& own, std::optional<int> expected) {
  if (!status.ok()) {
    return {{"coordinator", Outcome::kWrong, std::string(status.status().message())},
            JudgeShape(std::nullopt, expected)};
  }
  Checks checks = {
      {"coordinator", Outcome::kRight,
       absl::StrCat("it answers, version ", status->version(), "; ", status->connected(), " of ",
                    status->expected(), " workers are connected")}};
  checks.push_back(JudgeShape(
      status->expected() > 0 ? std::optional<int>(status->expected()) : std::nullopt, expected));
  if (!own.has_value()) return checks;
  for (const v1::WorkerStatus& missing : status->missing()) {
    if (missing.worker().slice() != own->slice || missing.worker().task() != own->task) continue;
    checks.push_back({"agent", Outcome::kWrong,
                      absl::StrCat("the coordinator misses that of slice ", own->slice, " task ",
                                   own->task, ": is it running, with this --coordinator?")});
  }
  return checks;
}

}  // namespace rapideye::cli
