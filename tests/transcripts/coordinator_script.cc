#include "tests/transcripts/coordinator_script.h"

#include <functional>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/support/fake_job.h"
#include "tests/transcripts/messages.h"

namespace rapideye::transcripts {
namespace {

using coordinator::FakeAgent;
using coordinator::FakeJob;

std::string PrintConclude(const coordinator::Conclude& conclude) {
  const CaptureHeader& header = conclude.capture.header;
  std::vector<std::string> missing;
  std::map<WorkerId, bool> seen;
  for (const Snapshot& snapshot : conclude.capture.snapshots) seen[snapshot.worker] = true;
  for (const ExpectedWorker& worker : header.expected_workers) {
    if (!seen.contains(worker.id)) missing.push_back(testbed::FormatWorker(worker.id));
  }
  std::vector<std::string> cohorts;
  for (const Cohort& cohort : header.cohorts) {
    std::vector<std::string> sequence;
    for (const SequenceEntry& entry : cohort.sequence) {
      sequence.push_back(absl::StrCat(entry.fingerprint, "/", entry.launch_id));
    }
    cohorts.push_back(absl::StrCat(cohort.workers.size(), "*", absl::StrJoin(sequence, ">")));
  }
  return absl::StrCat(
      "conclude ", conclude.incident_id, " trigger=", header.trigger.value_or("none"),
      header.hang_threshold_ms.has_value()
          ? absl::StrCat(" threshold=", *header.hang_threshold_ms, "ms")
          : "",
      header.job_incarnation.has_value() ? absl::StrCat(" job=", *header.job_incarnation) : "",
      " workers=", header.expected_workers.size(),
      " missing=", missing.empty() ? "none" : absl::StrJoin(missing, ","),
      " cohorts=", cohorts.empty() ? "none" : absl::StrJoin(cohorts, ","),
      " collect=", absl::FormatDuration(conclude.collect));
}

class CoordinatorScript : public Script {
 public:
  absl::Status Run(Command& command, std::vector<std::string>& output) override;

 private:
  void Begin(Command& command);
  void Dispatch(Command& command);
  void WantTexts(Command& command);
  void AddAgents(Command& command);
  static void SetHello(Command& command, wire::Hello& hello);
  void SetWorker(Command& command, FakeAgent& agent);

  // Carries out a command to an agent; commands that send no message come first.
  void OfAgent(Command& command, FakeAgent& agent);

  // Output ---------------------------------------------------------------------

  void Show(const coordinator::Effect& effect, std::optional<WorkerId> worker);

  // A message that goes to several agents at once is one line.
  void ShowSend(const std::string& who, const std::string& what);
  void Flush();
  void ShowCounters();

  std::unique_ptr<FakeJob> job_;
  absl::Duration started_;
  std::vector<std::string>* output_ = nullptr;
  bool quiet_ = false;
  std::vector<std::string> told_;
  std::string what_told_;
  std::string when_told_;
};

absl::Status CoordinatorScript::Run(Command& command, std::vector<std::string>& output) {
  output_ = &output;
  if (command.verb() == "coordinator") {
    Begin(command);
  } else if (job_ == nullptr) {
    command.Fail("the first command is: coordinator");
  } else {
    Dispatch(command);
  }
  Flush();
  return command.Check();
}

void CoordinatorScript::Begin(Command& command) {
  coordinator::Options options;
  options.thresholds.launch = command.Duration("launch-threshold");
  options.thresholds.hang = command.Duration("hang-threshold");
  command.Set(options.thresholds.startup_grace, command.Duration("startup-grace"));
  command.Set(options.collect_deadline, command.Duration("collect-deadline"));
  command.Set(options.shape.job, command.String("job"));
  options.shape.slices = command.Integer("slices");
  options.shape.tasks_per_slice = command.Integer("tasks-per-slice");
  if (job_ != nullptr) {
    job_->RestartCoordinator(std::move(options));
    return;
  }
  job_ = std::make_unique<FakeJob>(std::move(options), 0, 0);
  started_ = job_->now().monotonic;
  job_->ShowEffectsTo([this](const coordinator::Effect& effect, std::optional<WorkerId> worker) {
    Show(effect, worker);
  });
}

void CoordinatorScript::Dispatch(Command& command) {
  const std::string& verb = command.verb();
  if (verb == "agents") {
    AddAgents(command);
  } else if (verb == "run") {
    absl::Duration time;
    if (!absl::ParseDuration(command.subject(), &time)) command.Fail("for how long?");
    job_->Run(time, command.Duration("poll").value_or(absl::Seconds(1)));
  } else if (verb == "stream") {
    job_->OpenStream();
  } else if (verb == "concluded") {
    if (job_->concluded().empty()) return command.Fail("nothing was concluded");
    job_->Concluded(command.Flag("hang").value_or(true));
  } else if (verb == "texts-wanted") {
    WantTexts(command);
  } else if (verb == "on-disk") {
    job_->Step(coordinator::IncidentsOnDisk{command.List("incidents")});
  } else if (verb == "retold" || verb == "unreadable") {
    if (job_->retold().empty()) return command.Fail("nothing was to be retold");
    const std::string& incident = job_->retold().back();
    if (verb == "retold") {
      job_->Step(coordinator::IncidentConcluded{.incident_id = incident, .hang = true});
    } else {
      job_->Step(coordinator::IncidentUnreadable{incident});
    }
  } else if (verb == "stop") {
    job_->Step(coordinator::Stop{});
  } else if (verb == "counters") {
    ShowCounters();
  } else if (verb == "agent") {
    const WorkerId worker = command.Worker();
    SetHello(command, job_->agents().contains(worker) ? job_->agents().at(worker).hello
                                                      : job_->Add(worker).hello);
  } else if (command.subject() == "all") {
    for (auto& [id, agent] : job_->agents()) OfAgent(command, agent);
  } else if (auto found = job_->agents().find(command.Worker()); found != job_->agents().end()) {
    OfAgent(command, found->second);
  } else {
    command.Fail(absl::StrCat("there is no agent ", command.subject()));
  }
}

void CoordinatorScript::WantTexts(Command& command) {
  if (job_->concluded().empty()) return command.Fail("nothing was concluded");
  const std::optional<std::string> module = command.String("module");
  std::vector<ProgramSide> sides;
  for (const char* key : {"first", "second"}) {
    ProgramSide& side = sides.emplace_back();
    side.module = module;
    side.fingerprint = key == std::string("first") ? "aa" : "bb";
    for (const std::string& name : command.List(key)) {
      const absl::StatusOr<WorkerId> worker = testbed::ParseWorker(name);
      if (!worker.ok()) return command.Fail("which workers?");
      side.workers.push_back(*worker);
    }
  }
  job_->WantTexts(std::move(sides));
}

void CoordinatorScript::AddAgents(Command& command) {
  const std::vector<std::string> shape = absl::StrSplit(command.subject(), 'x');
  int slices = 0;
  int tasks = 0;
  if (shape.size() != 2 || !absl::SimpleAtoi(shape[0], &slices) ||
      !absl::SimpleAtoi(shape[1], &tasks)) {
    return command.Fail("how many? For example 2x4");
  }
  for (int slice = 0; slice < slices; ++slice) {
    for (int task = 0; task < tasks; ++task) {
      FakeAgent& agent = job_->Add({slice, task});
      agent.hello.slices = slices;
      agent.hello.tasks_per_slice = tasks;
      for (const std::string& nic : command.List("nics")) {
        const auto network = static_cast<uint8_t>(nic.back() - '0');
        agent.hello.addresses.push_back({nic, FromV4({10, network, static_cast<uint8_t>(slice),
                                                      static_cast<uint8_t>(task + 1)})});
      }
      quiet_ = true;
      job_->Connect(agent);
      quiet_ = false;
    }
  }
}

void CoordinatorScript::SetHello(Command& command, wire::Hello& hello) {
  command.Set(hello.agent_incarnation, command.Integer("incarnation"));
  command.Set(hello.protocol_version, command.Integer("protocol"));
  command.Set(hello.job, command.String("job"));
  command.Set(hello.host, command.String("host"));
  command.Set(hello.hlo_dumps, command.Flag("hlo-dumps"));
  command.Set(hello.poll_interval, command.Duration("poll-interval"));
  if (const auto slices = command.Integer("slices")) hello.slices = *slices;
  if (const auto tasks = command.Integer("tasks-per-slice")) hello.tasks_per_slice = *tasks;
  if (auto incarnation = command.String("job-incarnation")) {
    hello.job_incarnation = std::move(incarnation);
  }
}

void CoordinatorScript::SetWorker(Command& command, FakeAgent& agent) {
  command.Set(agent.advancing, command.Flag("advancing"));
  command.Set(agent.in_flight, command.Flag("in-flight"));
  command.Set(agent.answers, command.Flag("answers"));
  command.Set(agent.grants_only, command.Flag("grants-only"));
  command.Set(agent.launch_id, command.Integer("launch"));
  command.Set(agent.pc, command.Integer("pc"));
  if (const auto state = command.String("runtime")) {
    command.Set(agent.runtime, ReadRuntimeState(command, *state));
  }
  if (const auto process = command.String("process")) {
    agent.process = *process;
    agent.completed = 0;
    agent.last_completion.reset();
  }
  if (command.String("programs")) agent.programs = command.List("programs");
  command.Set(agent.new_program, command.String("new-program"));
  command.Set(agent.dump, command.String("dump"));
}

void CoordinatorScript::OfAgent(Command& command, FakeAgent& agent) {
  const std::string& verb = command.verb();
  if (verb == "worker") {
    SetWorker(command, agent);
  } else if (verb == "connect") {
    job_->Connect(agent);
  } else if (verb == "disconnect") {
    job_->Disconnect(agent);
  } else if (verb == "hello") {
    job_->HelloOnNewStream(agent);
  } else if (verb == "malformed") {
    job_->Step(
        coordinator::MessageMalformed{agent.stream, absl::InvalidArgumentError(command.text())});
  } else if (verb == "heartbeat") {
    job_->Heartbeat(agent);
  } else if (verb == "flood") {
    const int64_t count = command.Integer("count").value_or(1000);
    for (int64_t i = 0; i < count && agent.stream != 0; ++i) job_->Heartbeat(agent);
  } else if (verb == "snapshot") {
    Snapshot snapshot = job_->Show(agent);
    if (const auto of = command.String("of")) {
      if (const auto other = testbed::ParseWorker(*of); other.ok()) snapshot.worker = *other;
    }
    const int64_t bytes = command.Integer("bytes").value_or(1000);
    job_->Say(agent, wire::SnapshotReply{command.Integer("collection").value_or(1), snapshot},
              bytes);
  } else if (verb == "hlo") {
    job_->Say(agent, wire::HloReply{command.Integer("collection").value_or(1), std::nullopt,
                                    command.text()});
  } else if (verb == "module-text") {
    job_->Say(agent, wire::ModuleTextReply{command.Integer("collection").value_or(1), std::nullopt,
                                           command.text()});
  } else if (auto message = ReadAgentMessage(command)) {
    job_->Say(agent, *std::move(message));
  } else {
    command.Fail("no such command");
  }
}

void CoordinatorScript::Show(const coordinator::Effect& effect, std::optional<WorkerId> worker) {
  if (quiet_) return;
  const std::string who = worker.has_value() ? testbed::FormatWorker(*worker) : "a stream";
  if (const auto* send = std::get_if<coordinator::Send>(&effect)) {
    return ShowSend(who, Print(send->message));
  }
  Flush();
  const std::string time = PrintTime(job_->now().monotonic - started_);
  if (const auto* close = std::get_if<coordinator::Close>(&effect)) {
    output_->push_back(absl::StrCat(time, " close ", who, " ", Print(close->status)));
  } else if (const auto* conclude = std::get_if<coordinator::Conclude>(&effect)) {
    output_->push_back(absl::StrCat(time, " ", PrintConclude(*conclude)));
  } else if (const auto* texts = std::get_if<coordinator::TextsGathered>(&effect)) {
    output_->push_back(absl::StrCat(time, " texts-gathered"));
    for (const coordinator::GatheredText& one : texts->sides) {
      output_->push_back(absl::StrCat("  ", one.side.fingerprint, " of ",
                                      testbed::FormatWorker(one.worker), ": ",
                                      one.text.has_value() ? one.text->dump : one.problem));
    }
  } else if (const auto* retell = std::get_if<coordinator::Retell>(&effect)) {
    output_->push_back(absl::StrCat(time, " retell ", retell->incident_id));
  } else if (const auto* log = std::get_if<coordinator::Log>(&effect)) {
    const char* level = log->level == coordinator::LogLevel::kInfo ? "info" : "warning";
    output_->push_back(absl::StrCat(time, " ", level, ": ", log->text));
  }
}

void CoordinatorScript::ShowSend(const std::string& who, const std::string& what) {
  const std::string time = PrintTime(job_->now().monotonic - started_);
  if (told_.empty() || what != what_told_ || time != when_told_) Flush();
  told_.push_back(who);
  what_told_ = what;
  when_told_ = time;
}

void CoordinatorScript::Flush() {
  if (told_.empty()) return;
  output_->push_back(absl::StrCat(when_told_, " to ", absl::StrJoin(told_, " "), ": ", what_told_));
  told_.clear();
}

void CoordinatorScript::ShowCounters() {
  const coordinator::Counters& counters = job_->core().counters();
  const std::vector<std::pair<const char*, int64_t>> all = {
      {"hellos-admitted", counters.hellos_admitted},
      {"hellos-refused", counters.hellos_refused},
      {"hello-timeouts", counters.hello_timeouts},
      {"superseded", counters.superseded},
      {"messages-refused", counters.messages_refused},
      {"floods", counters.floods},
      {"alarms", counters.alarms},
      {"job-restarts", counters.job_restarts},
      {"suspicions", counters.suspicions},
      {"recovered-in-between", counters.recovered_in_between},
      {"incidents", counters.incidents},
      {"recalled", counters.recalled}};
  for (const auto& [name, count] : all) {
    if (count != 0) output_->push_back(absl::StrCat(name, "=", count));
  }
}

}  // namespace

std::unique_ptr<Script> MakeCoordinatorScript() { return std::make_unique<CoordinatorScript>(); }

}  // namespace rapideye::transcripts
