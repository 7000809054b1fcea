#include "tests/transcripts/agent_script.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/core_script.h"
#include "tests/transcripts/messages.h"

namespace rapideye::transcripts {
namespace {

using agent::CoreScript;
using agent::RuntimeReading;

constexpr absl::Duration kOrigin = absl::Hours(100);

std::optional<LogKind> LogKindOf(const std::string& name) {
  if (name == "hang") return LogKind::kHangDetected;
  if (name == "halt") return LogKind::kHaltHardware;
  if (name == "assertion") return LogKind::kHaltAssertion;
  if (name == "follow-on") return LogKind::kFollowOn;
  return std::nullopt;
}

std::string PollText(const agent::Poll& poll) {
  return absl::StrCat("poll", poll.with_hlo ? " with-hlo" : "",
                      poll.look.sockets ? " with-sockets" : "",
                      poll.look.hang ? " as-in-a-hang" : "",
                      poll.look.stacks != agent::StackLook::kNone ? " with-stacks" : "",
                      " deadline=", absl::FormatDuration(poll.deadline));
}

class AgentScript : public Script {
 public:
  absl::Status Run(Command& command, std::vector<std::string>& output) override;

 private:
  void Begin(Command& command);
  void Dispatch(Command& command);
  void SetRuntime(Command& command);
  void UpdateReading();
  void SetAnswers(Command& command, bool answers);
  void SetProcess(Command& command);
  void SayInLog(Command& command);
  void ShowDumps(Command& command);
  void Pass(Command& command);
  void Show(absl::Duration at, const agent::Effect& effect);
  std::string Describe(const agent::Effect& effect) const;

  std::unique_ptr<CoreScript> script_;
  std::vector<std::string>* output_ = nullptr;
  std::optional<agent::CoreSample> core_;
  std::string program_ = "aa";
  std::string hlo_;
  std::string module_;
  int64_t pc_ = 0x40;
  int64_t probes_ = 0;  // request of the last ones
  bool show_polls_ = true;
  bool show_heartbeats_ = true;
};

absl::Status AgentScript::Run(Command& command, std::vector<std::string>& output) {
  output_ = &output;
  if (command.verb() == "agent") {
    Begin(command);
  } else if (script_ == nullptr) {
    command.Fail("the first command is: agent");
  } else if (auto message = ReadCoordinatorMessage(command)) {
    script_->Receive(*std::move(message));
  } else {
    Dispatch(command);
  }
  if (script_ != nullptr && script_->stuck) command.Fail("the core asks to be woken for ever");
  return command.Check();
}

void AgentScript::Begin(Command& command) {
  agent::AgentSettings settings =
      CoreScript::Settings(command.Duration("poll-interval").value_or(absl::Seconds(5)),
                           static_cast<uint64_t>(command.Integer("seed").value_or(1)),
                           command.Flag("watches-host").value_or(false));
  command.Set(settings.hello.agent_incarnation, command.Integer("incarnation"));
  command.Set(settings.hello.protocol_version, command.Integer("protocol"));
  command.Set(settings.hello.hlo_dumps, command.Flag("hlo-dumps"));
  const absl::Duration now = script_ == nullptr ? kOrigin : script_->now();
  const RuntimeReading reading =
      script_ == nullptr ? agent::Serving({agent::Idle(0)}) : script_->reading;
  agent::HostReading host;
  if (script_ != nullptr) host = script_->host;
  script_ = std::make_unique<CoreScript>(
      settings, now, [this](absl::Duration at, const agent::Effect& effect) { Show(at, effect); });
  script_->reading = reading;
  script_->host = host;
  script_->Step(agent::Wake{});
}

void AgentScript::Dispatch(Command& command) {
  const std::string& verb = command.verb();
  if (verb == "show") {
    command.Set(show_polls_, command.Flag("polls"));
    command.Set(show_heartbeats_, command.Flag("heartbeats"));
  } else if (verb == "runtime") {
    SetRuntime(command);
  } else if (verb == "hlo") {
    hlo_ = command.subject();
    module_ = command.String("module").value_or("jit_step");
    UpdateReading();
  } else if (verb == "silence" || verb == "answer") {
    SetAnswers(command, verb == "answer");
  } else if (verb == "process") {
    SetProcess(command);
  } else if (verb == "log") {
    SayInLog(command);
  } else if (verb == "dump" || verb == "dumps") {
    ShowDumps(command);
  } else if (verb == "probed") {
    const wire::ProbeReply made = ReadProbes(command);
    script_->Step(agent::ProbesMade{probes_, {made.probes, made.error}});
  } else if (verb == "run") {
    Pass(command);
  } else if (verb == "closed") {
    script_->Step(agent::StreamClosed{script_->stream, ReadStatus(command)});
  } else if (verb == "shutdown") {
    script_->Step(agent::ShutdownRequested{});
  } else {
    command.Fail("no such command");
  }
}

void AgentScript::SetRuntime(Command& command) {
  if (command.subject() != "serving" && command.subject() != "idle") {
    core_.reset();
    const std::optional<RuntimeState> state = ReadRuntimeState(command, command.subject());
    script_->reading =
        agent::NotServing(state.value_or(RuntimeState::kUnspecified), command.text());
    script_->reading_with_hlo.reset();
    return;
  }
  if (command.subject() == "idle") {
    core_ = agent::Idle(0);
  } else {
    command.Set(script_->launch, command.Integer("launch"));
    command.Set(pc_, command.Integer("pc"));
    command.Set(program_, command.String("program"));
    core_ = agent::Running(0, program_, script_->launch, pc_);
    core_->error = command.String("error");
    for (const std::string& queued : command.List("queued")) {
      core_->queued.push_back({queued, script_->launch, std::nullopt});
    }
  }
  UpdateReading();
}

void AgentScript::UpdateReading() {
  if (!core_.has_value()) return;
  script_->reading = agent::Serving({*core_});
  script_->reading_with_hlo.reset();
  if (!hlo_.empty()) {
    script_->reading_with_hlo = agent::Serving({agent::WithHlo(*core_, hlo_, module_)});
  }
}

void AgentScript::SetAnswers(Command& command, bool answers) {
  const bool runtime = command.subject() == "runtime";
  if (!runtime && command.subject() != "host") return command.Fail("the runtime or the host?");
  (runtime ? script_->runtime_answers : script_->host_answers) = answers;
  if (!answers) return;
  if (runtime && script_->poll_waits()) script_->AnswerPoll();
  if (!runtime && script_->host_poll_waits()) script_->AnswerHost();
}

void AgentScript::SetProcess(Command& command) {
  agent::ProcessSample sample;
  sample.id = {command.Integer("pid").value_or(4211), command.Integer("start").value_or(77)};
  sample.command = "python3";
  sample.state = ProcessState::kSleeping;
  if (command.subject() == "ended") {
    sample.state = ProcessState::kExited;
    command.Set(sample.exit_code, command.Integer("exit"));
    command.Set(sample.signal, command.Integer("signal"));
  } else if (command.subject() != "alive") {
    command.Fail("alive or ended?");
  }
  script_->host.Of<agent::ProcessReading>() = agent::ProcessReading{sample, ""};
  // The end of a process is told without waiting for a poll.
  if (sample.Ended()) script_->Step(agent::HostSampled{0, script_->host});
}

void AgentScript::SayInLog(Command& command) {
  const std::optional<LogKind> kind = LogKindOf(command.subject());
  if (!kind.has_value()) return command.Fail("no such kind of line");
  logs::LogLine line;
  line.event.kind = *kind;
  line.event.text = command.text();
  line.event.source = LogSource::kJobLog;
  line.key = command.text();
  line.old = command.Flag("old").value_or(false);
  script_->Step(agent::LogsRead{{{line}, {}}});
}

void AgentScript::ShowDumps(Command& command) {
  if (command.verb() == "dump") {
    agent::ModuleTextFetched fetched{command.Integer("fetch").value_or(1), std::nullopt,
                                     command.text()};
    if (const auto file = command.String("file")) {
      fetched.text = wire::ModuleText{*file, HloMatch::kOnlyDump, "gzip", false};
    }
    return script_->Step(fetched);
  }
  agent::DumpsListed listed;
  listed.reading.unavailable = command.text();
  if (const auto module = command.String("module")) {
    listed.reading.programs.push_back({*module, command.String("fingerprint").value_or("")});
  }
  script_->Step(listed);
}

void AgentScript::Pass(Command& command) {
  absl::Duration time;
  if (!absl::ParseDuration(command.subject(), &time)) return command.Fail("for how long?");
  const std::optional<absl::Duration> every = command.Duration("launch-every");
  if (!every.has_value()) return script_->Pass(time);
  for (absl::Duration passed; passed + *every <= time; passed += *every) {
    core_ = agent::Running(0, program_, ++script_->launch, pc_);
    UpdateReading();
    script_->Pass(*every);
  }
}

void AgentScript::Show(absl::Duration at, const agent::Effect& effect) {
  if (const auto* probes = std::get_if<agent::MakeProbes>(&effect)) probes_ = probes->request;
  const std::string line = Describe(effect);
  if (!line.empty()) output_->push_back(absl::StrCat(PrintTime(at - kOrigin), " ", line));
}

std::string AgentScript::Describe(const agent::Effect& effect) const {
  if (const auto* poll = std::get_if<agent::Poll>(&effect)) {
    return show_polls_ ? PollText(*poll) : "";
  }
  if (const auto* fetch = std::get_if<agent::FetchModuleText>(&effect)) {
    return absl::StrCat(
        "read-dump fetch=", fetch->fetch, " module=", fetch->module.value_or("unknown"),
        " fingerprint=", fetch->fingerprint, " deadline=", absl::FormatDuration(fetch->deadline));
  }
  if (std::holds_alternative<agent::ListDumps>(effect)) return "list-dumps";
  if (const auto* probes = std::get_if<agent::MakeProbes>(&effect)) {
    return absl::StrCat("make ", probes->targets.size(), " probes");
  }
  if (const auto* connect = std::get_if<agent::Connect>(&effect)) {
    return absl::StrCat("connect stream=", connect->stream);
  }
  if (const auto* send = std::get_if<agent::Send>(&effect)) {
    const bool heartbeat = std::holds_alternative<wire::Heartbeat>(send->message);
    return heartbeat && !show_heartbeats_ ? "" : absl::StrCat("send ", Print(send->message));
  }
  if (const auto* log = std::get_if<agent::Log>(&effect)) {
    switch (log->level) {
      case agent::LogLevel::kInfo:
        return absl::StrCat("info: ", log->text);
      case agent::LogLevel::kWarning:
        return absl::StrCat("warning: ", log->text);
      case agent::LogLevel::kError:
        return absl::StrCat("error: ", log->text);
    }
  }
  return "close";
}

}  // namespace

std::unique_ptr<Script> MakeAgentScript() { return std::make_unique<AgentScript>(); }

}  // namespace rapideye::transcripts
