#include "classifier/findings/facts.h"

#include "absl/strings/str_cat.h"
#include "classifier/errors/coordination.h"
#include "classifier/host/obstacles.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"
#include "classifier/wording/wording.h"

namespace rapideye::classifier {
namespace {

// The evidence that a silent worker lacks: where logs are the only evidence, every worker lacks
// snapshots.
std::string_view WhatIsMissing(const Case& c) {
  return c.logs == nullptr ? "sent no snapshot" : "has no log here";
}

std::string SilenceText(const Case& c, const WorkerSilent& fact) {
  switch (fact.silence) {
    case Silence::kProbesFail:
      return "sent no snapshot, and every probe of it fails";
    case Silence::kTakesNoBytes:
      return "sent no snapshot, and acknowledges nothing that its peers send";
    case Silence::kNoHeartbeats:
      if (!SendsNoHeartbeats(c.topology, fact.worker)) {
        return absl::StrCat(std::string(WhatIsMissing(c)), ", and health checks of it fail");
      }
      return absl::StrCat(
          std::string(WhatIsMissing(c)), ", and the coordination service misses its heartbeats",
          RestartedTasks(c.topology).empty() ? ""
                                             : ", or has seen it come back as another incarnation");
    case Silence::kProcessMissed:
      return "sent no snapshot, though its host answers, and the coordination service or its "
             "peers miss its process: both have ended";
    case Silence::kConnectionsClosed:
      return "sent no snapshot, and its end of every connection that its peers show is closed";
    case Silence::kOthersFollowed:
      return absl::StrCat(std::string(WhatIsMissing(c)),
                          ", and the processes of all others ended because somebody else was gone");
    case Silence::kAwaitedByCores:
      return "sent no snapshot, and every core that reported waits for its slice";
    case Silence::kAwaitedByHosts:
      return "sent no snapshot, and all other hosts wait for somebody";
  }
  return "sent no snapshot";
}

std::string MissedText(const MissedBarrier& fact) {
  switch (fact.missed) {
    case Missed::kBarrier:
      return "did not come to a barrier of the job";
    case Missed::kShutdown:
      return "did not come to the shutdown of the job";
    case Missed::kCameInStep:
      return absl::StrCat("came to the shutdown of the job in step ", fact.step.value_or(0),
                          ", which the others are in or past");
    case Missed::kCameAlone:
      return "came to the shutdown of the job alone";
  }
  return "";
}

std::string_view DiffersText(Differs differs) {
  switch (differs) {
    case Differs::kOrder:
      return "was given its launches in another order than its peers";
    case Differs::kSkipped:
      return "is past a launch in which its whole slice still meets";
    case Differs::kSplit:
      return "waits in another launch than the rest of its slice";
    case Differs::kReporter:
      return "found an unexpected leader in its launch group";
    case Differs::kLaunches:
      return "was given other launches than its peers";
  }
  return "";
}

std::string_view AbsentText(Absent absent) {
  switch (absent) {
    case Absent::kNoProcess:
      return "has an agent, and no training process";
    case Absent::kNeverSpoke:
      return "never spoke: there is no line of it, and the others' start-up failed";
    case Absent::kNeverCame:
      return "never came: no agent has said Hello for it";
    case Absent::kNoSnapshot:
      return "sent no snapshot, and the job has not begun";
  }
  return "";
}

std::string_view PlaceText(StartUpPlace place, bool one) {
  switch (place) {
    case StartUpPlace::kNotCome:
      return one ? "has not come" : "have not come";
    case StartUpPlace::kNoProcess:
      return one ? "has an agent, and no training process"
                 : "have an agent, and no training process";
    case StartUpPlace::kWaits:
      return one ? "waits for the job to be complete" : "wait for the job to be complete";
    case StartUpPlace::kOpensChips:
      return one ? "opens its chips" : "open their chips";
    case StartUpPlace::kPast:
      return one ? "does not wait for that" : "do not wait for that";
    case StartUpPlace::kNotKnown:
      return one ? "has its training process, whose stack is not known"
                 : "have their training process, whose stack is not known";
  }
  return "";
}

// The launches of one worker, in the order in which it was given them.
std::string ChainText(const Case& c, int worker) {
  const auto [first, last] = c.positions.UnitsOf(worker);
  if (first == last) return "";
  std::string text;
  for (const Launch& launch : c.topology.Chain(worker, *c.positions.unit(first).core)) {
    absl::StrAppend(&text, text.empty() ? "" : ", then ", ProgramName(c.topology, launch.program));
    if (text.size() > kQuoteBytes) break;
  }
  return text;
}

std::string OwedText(const Case& c, const Head& head) {
  const Place* place = c.PlaceOf(head);
  const std::string at = place == nullptr ? "" : PlaceName(c.topology, *place);
  switch (head.kind) {
    case HeadKind::kIdle:
      return "has nothing running and nothing queued";
    case HeadKind::kInput:
      return absl::StrCat("was launched and waits for its host", at.empty() ? "" : " at ", at);
    default:
      return absl::StrCat("stands with all its cores at one place that its peers have left",
                          at.empty() ? "" : ", ", at);
  }
}

std::string Say(const Case& c, const CoreStands& fact) {
  const Head& head = *fact.head;
  const Place* place = c.PlaceOf(head);
  std::string text = absl::StrCat(
      CoreName(*fact.core), " of ", Who(c.worker(head.worker)),
      head.moving ? " loops without completing a launch" : " has stood still", StoodFor(c, head));
  if (place != nullptr) absl::StrAppend(&text, " at ", PlaceName(c.topology, *place));
  if (head.behind) absl::StrAppend(&text, ", in an earlier launch than its peers");
  const std::string waits = WhoWaits(c, head);
  if (!waits.empty()) absl::StrAppend(&text, ", while ", waits);
  return text;
}

std::string Say(const Case& c, const CoreStoppedFirst& fact) {
  return absl::StrCat(CoreName(*fact.core), " of ", Who(c.worker(fact.worker)),
                      " stopped first, at least ", Span(fact.ahead_ms), " before ",
                      Count(fact.others, "other core"), " that told when they stopped");
}

std::string Say(const Case& c, const Words& fact) {
  if (fact.said == Said::kLogged) {
    return absl::StrCat(Who(c.worker(fact.worker)), " logged: ", Quote(fact.text));
  }
  if (fact.said == Said::kLine) {
    return absl::StrCat(Who(c.worker(fact.worker)), ": ", Quote(fact.text));
  }
  std::string_view said;
  switch (fact.said) {
    case Said::kOfItself:
    case Said::kLogged:
    case Said::kLine:
      break;
    case Said::kOfOthers:
      said = " reports";
      break;
    case Said::kUnexpectedData:
      said = " received what its own collective does not expect";
      break;
  }
  return absl::StrCat(Who(c.worker(fact.worker)), std::string(said), ": ", std::string(fact.text));
}

std::string Say(const Case& c, const Failure& fact) {
  const ErrorEvent& event = *fact.event;
  const bool process = event.kind == ErrorKind::kExit || event.kind == ErrorKind::kStopped;
  std::string text =
      absl::StrCat(Who(c.worker(event.worker)), process ? ": its training process " : ": ");
  if (process && event.kind == ErrorKind::kStopped) absl::StrAppend(&text, "is ");
  if (process && event.text.starts_with("killed")) absl::StrAppend(&text, "was ");
  if (event.kind == ErrorKind::kException) absl::StrAppend(&text, "its program ended by ");
  absl::StrAppend(&text, event.text);
  if (event.age_ms) {
    absl::StrAppend(&text, ", ", Span(*event.age_ms), " before the ",
                    c.logs == nullptr ? "collection" : "end of the logs");
  }
  return text;
}

std::string Say(const Case& c, const BadIciLink& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " reports ICI link ", Quote(fact.link->link),
                      " of chip ", fact.link->chip, " with health ", fact.link->health,
                      " (0 good, 10 unusable)");
}

std::string Say(const Case& c, const WorkerSilent& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " ", SilenceText(c, fact));
}

std::string Say(const Case& c, const MissedBarrier& fact) {
  const FailedBarrier& barrier = *fact.barrier;
  return absl::StrCat(Who(c.worker(fact.worker)), " ", MissedText(fact), " (", Quote(barrier.id),
                      ", ", barrier.came, " of ", c.topology.workers().size(), " came",
                      barrier.all_named ? ""
                                        : absl::StrCat("; the service names ",
                                                       barrier.absent.size(), " of the others"),
                      ")");
}

std::string Say(const Case& c, const BusyWhileAwaited& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " ", fact.place->text, ", while ",
                      WhoAll(c.topology, *fact.waiting), " waited in vain for others");
}

std::string Say(const Case& c, const DeclaredDead& fact) {
  const char* life = "while its device advanced";
  if (fact.life == DeclaredDead::Life::kHeard) life = "though its process lived to hear so";
  if (fact.life == DeclaredDead::Life::kUnanswered) {
    life = "though its process lived, and ended only because the service did not answer it";
  }
  return absl::StrCat("the coordination service declared ", WhoAll(c.topology, *fact.workers),
                      " dead for want of heartbeats, ", life);
}

std::string Say(const Case& c, const HostStands& fact) {
  std::string text = absl::StrCat(Who(c.worker(fact.worker)), " ", fact.place->text);
  if (fact.place->step.has_value()) absl::StrAppend(&text, ", step ", *fact.place->step);
  if (fact.others == 0) return text;
  return absl::StrCat(
      text, ", while ",
      fact.others == 1 ? "the other waits " : absl::StrCat(fact.others, " others wait "),
      std::string(WaitedFor(fact.wait)));
}

std::string Say(const Case& c, const HostUntold& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " does not tell where it stands; all others do");
}

std::string Say(const Case& c, const LoadersStandAlike& fact) {
  return absl::StrCat("loaders of ", WhoAll(c.topology, *fact.workers), " stand in ",
                      Quote(fact.place), ", too: they get no data from where this one reads");
}

std::string Say(const Case& c, const SetsCut& fact) {
  const std::string smaller =
      absl::StrCat("no connection between ", WhoAll(c.topology, *fact.smaller), " and ");
  if (fact.others == nullptr) {
    return absl::StrCat(smaller, "the others works: something that they share is cut");
  }
  return absl::StrCat(smaller, WhoAll(c.topology, *fact.others),
                      " works, while those within either set do: something between them is cut");
}

std::string Say(const Case& c, const HostCutOff& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " does not get through to ",
                      Count(static_cast<int64_t>(fact.peers.size()), "peer"),
                      fact.nic ? absl::StrCat(" over its NIC ", Quote(*fact.nic)) : "", ": ",
                      WhoAll(c.topology, fact.peers));
}

std::string Say(const Case& c, const PairBroken& fact) {
  const PairEvidence& evidence = *fact.evidence;
  std::string text = absl::StrCat("between ", Who(c.worker(fact.pair.first)), " and ",
                                  Who(c.worker(fact.pair.second)));
  if (const auto nic = evidence.OnlyNic()) absl::StrAppend(&text, " over ", Quote(*nic));
  if (!evidence.failed_probe.empty()) {
    absl::StrAppend(
        &text, evidence.failed_probe.size() == 2 ? " probes fail both ways" : " a probe fails");
  }
  if (!evidence.unacked.empty()) {
    absl::StrAppend(&text, evidence.failed_probe.empty() ? "" : ",",
                    " bytes sent stay unacknowledged");
  }
  if (!evidence.pending.empty()) absl::StrAppend(&text, ", a transfer is pending");
  return text;
}

std::string Say(const Case& c, const AwaitEachOther& fact) {
  return absl::StrCat(
      Who(c.worker(fact.one)), " and ", Who(c.worker(fact.other)),
      " alone wait for each other's slice, while the rest of both slices waits for them");
}

std::string Say(const Case& c, const NoCarrier& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " waits for another slice, and its NIC ",
                      Quote(fact.nic), " has no carrier");
}

std::string Say(const Case& c, const HostStandsAt& fact) {
  const Head& head = *fact.head;
  return absl::StrCat(Who(c.worker(head.worker)), " has stood", StoodFor(c, head), " at ",
                      PlaceName(c.topology, *c.PlaceOf(head)), ", while ", WhoWaits(c, head));
}

std::string Say(const Case& c, const HostOwes& fact) {
  const Head& head = *fact.head;
  const std::string waits = WhoWaits(c, head);
  return absl::StrCat(Who(c.worker(head.worker)), " ", OwedText(c, head), StoodFor(c, head),
                      waits.empty() ? "" : ", while ", waits);
}

std::string Say(const Case& c, const PauseTooLong& fact) {
  const Progress& progress = *c.worker(fact.worker).snapshot->progress;
  const std::optional<int64_t>& waited = c.capture.header.announced_pause_ms;
  return absl::StrCat(Who(c.worker(fact.worker)), ": its training loop says that it is in ",
                      progress.phase == Phase::kCheckpoint ? "a checkpoint"
                      : progress.phase == Phase::kEval     ? "an evaluation"
                                                           : "a compilation",
                      progress.phase_ms ? absl::StrCat(" for ", Span(*progress.phase_ms)) : "",
                      waited ? absl::StrCat("; it was waited for for ", Span(*waited),
                                            ", longer than that may take")
                             : absl::StrCat(", longer than the ", Span(c.ExcusedMs(progress.phase)),
                                            " for which that is an excuse"));
}

std::string Say(const Case& c, const AwaitsInput& fact) {
  const std::string who = Who(c.worker(fact.worker));
  if (fact.seen.empty()) return absl::StrCat(who, " waits for input");
  return absl::StrCat(
      who, ": ", std::string(fact.seen),
      fact.unseen ? ", and nothing is known of its cores, while its slice waits" : "");
}

std::string Say(const Case& c, const StuckInKernel& fact) {
  std::string text = absl::StrCat("the runtime of ", Who(c.worker(fact.worker)),
                                  " does not answer, the kernel holds its training process");
  for (const Process& process : c.worker(fact.worker).snapshot->processes) {
    if (process.state != ProcessState::kUninterruptible || !process.wait_channel) continue;
    absl::StrAppend(&text, " in ", Quote(*process.wait_channel));
    break;
  }
  return absl::StrCat(text, ", and the others wait for it");
}

std::string Say(const Case& c, const LaunchesDiffer& fact) {
  std::string text =
      absl::StrCat(Who(c.worker(fact.worker)), " ", std::string(DiffersText(fact.differs)));
  const std::string chain = ChainText(c, fact.worker);
  if (!chain.empty()) absl::StrAppend(&text, ": ", chain);
  return text;
}

std::string Say(const Case& c, const WorkerAbsent& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " ", std::string(AbsentText(fact.absent)));
}

std::string Say(const Case& c, const StartUpWaits& fact) {
  const std::optional<int64_t>& starting_ms = c.capture.header.starting_ms;
  const std::string since =
      starting_ms ? absl::StrCat(", ", Span(*starting_ms), " after the first came") : "";
  switch (fact.wait) {
    case StartUpWait::kTimedOut:
      return absl::StrCat("the start-up of ", WhoAll(c.topology, *fact.workers),
                          " ended by a time-out (", Quote(fact.line), ")");
    case StartUpWait::kForOthers:
      return absl::StrCat(WhoAll(c.topology, *fact.workers),
                          fact.workers->size() == 1 ? " waits" : " wait",
                          " for the job to be complete", since);
    case StartUpWait::kOpensChips:
      return absl::StrCat(WhoAll(c.topology, *fact.workers), " open their chips", since);
    case StartUpWait::kNothingCompletes:
      break;
  }
  return absl::StrCat("no launch and no step has completed", since);
}

std::string Say(const Case& c, const Obstructed& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), ": ",
                      DescribeObstacles(ObstaclesOf(c.topology, fact.worker)));
}

std::string Say(const Case& c, const StartedOtherwise& fact) {
  return Describe(c.topology, *fact.difference);
}

std::string Say(const Case& c, const ReachedStage& fact) {
  return absl::StrCat(Count(static_cast<int64_t>(fact.workers->size()), "worker"), " ",
                      StageName(fact.stage), ": ", WhoAll(c.topology, *fact.workers));
}

std::string Say(const Case& c, const StandInStartUp& fact) {
  return absl::StrCat(Count(static_cast<int64_t>(fact.workers->size()), "worker"), " ",
                      std::string(PlaceText(fact.place, fact.workers->size() == 1)), ": ",
                      WhoAll(c.topology, *fact.workers));
}

std::string Say(const Case& c, const NothingBegun&) {
  const CaptureHeader& header = c.capture.header;
  std::string text = "no launch and no step has completed yet";
  if (!header.starting_ms.has_value()) return text;
  absl::StrAppend(&text, ", ", Span(*header.starting_ms), " after the first agent came");
  if (header.startup_grace_ms.has_value()) {
    absl::StrAppend(&text, "; it may take ", Span(*header.startup_grace_ms));
  }
  return text;
}

std::string Say(const Case&, const NoneSeenToWait&) {
  return "nothing shows that anybody waits for the job to be complete";
}

std::string Say(const Case& c, const LoopsAre& fact) {
  const std::vector<int>& workers = *fact.workers;
  std::string text = absl::StrCat(
      Count(static_cast<int64_t>(workers.size()), "worker"), workers.size() == 1 ? " is " : " are ",
      fact.by_logs ? "making steps, as logs tell" : std::string(PhaseText(fact.phase)));
  if (fact.first_step.has_value()) {
    absl::StrAppend(&text, fact.first_step == fact.last_step ? ", step " : ", steps ",
                    *fact.first_step);
  }
  if (fact.first_step != fact.last_step) absl::StrAppend(&text, " to ", *fact.last_step);
  return absl::StrCat(text, ": ", WhoAll(c.topology, workers));
}

std::string Say(const Case& c, const CoresAdvance& fact) {
  return absl::StrCat(fact.recent, " of ", Count(fact.telling, "core"),
                      " completed a launch within the threshold of ", Span(c.threshold_ms));
}

std::string Say(const Case& c, const LoopsAdvance& fact) {
  return absl::StrCat("the training loops of ", fact.loops, " of ",
                      Count(static_cast<int64_t>(c.topology.workers().size()), "worker"),
                      " made a step within ", Span(fact.within_ms));
}

std::string Say(const Case& c, const LogsAdvance& fact) {
  return absl::StrCat("the log of ", WhoAll(c.topology, *fact.workers),
                      " has told a further step no longer ago than such lines are apart");
}

std::string Say(const Case& c, const ProcessesWork& fact) {
  return absl::StrCat(WhoAll(c.topology, *fact.workers),
                      fact.workers->size() == 1 ? " sends, receives, reads or writes"
                                                : " send, receive, read or write",
                      " as in health");
}

std::string Say(const Case& c, const HostRests& fact) {
  const std::string rests = fact.place.has_value()             ? fact.place->text
                            : fact.phase == Phase::kCheckpoint ? "writes or reads a checkpoint"
                            : fact.phase == Phase::kEval       ? "evaluates"
                                                               : "compiles";
  return absl::StrCat("nothing runs where work is missing, and ", Who(c.worker(fact.worker)), " ",
                      rests);
}

std::string Say(const Case&, const JobEnded& fact) {
  switch (fact.how) {
    case JobEnd::kProgramOver:
      return "the program of all workers is over: all training processes have ended, or end as an "
             "interpreter does that has nothing left to run";
    case JobEnd::kFellLater:
      return "all training processes have ended, some with status 0 before any fell over";
    case JobEnd::kFromOutside:
      break;
  }
  return "all training processes were ended from outside at about the same time";
}

std::string Say(const Case& c, const CompiledOtherwise& fact) {
  const DumpedSides& sides = *fact.sides;
  return absl::StrCat(
      "by XLA's dumps ", WhoAll(c.topology, sides.odd), sides.odd.size() == 1 ? " has" : " have",
      " compiled ", Quote(sides.module),
      sides.more ? " to one more program (fingerprint " : " to another program (fingerprint ",
      Quote(sides.odd_fingerprint), ") than ",
      Count(static_cast<int64_t>(sides.rest.size()), "other worker"), " (fingerprint ",
      Quote(sides.rest_fingerprint), ")");
}

std::string Say(const Case& c, const HasCompiled& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " has compiled ", Quote(fact.sides->module),
                      fact.sides->more    ? " to one more program than its peers"
                      : fact.sides->equal ? " to another program than half of its peers"
                                          : " to another program than most of its peers");
}

std::string SideText(const Case& c, const std::vector<int>& workers, int program) {
  return absl::StrCat(WhoAll(c.topology, workers), workers.size() == 1 ? " runs " : " run ",
                      ProgramName(c.topology, program), " (fingerprint ",
                      program < 0
                          ? "unknown"
                          : Quote(c.topology.programs()[static_cast<size_t>(program)].fingerprint),
                      ")");
}

std::string Say(const Case& c, const SidesApart& fact) {
  const Sides& sides = *fact.sides;
  return absl::StrCat(SideText(c, sides.odd, sides.odd_program), ", while ",
                      Count(static_cast<int64_t>(sides.rest.size()), "other worker"),
                      " of the cohort ", sides.rest.size() == 1 ? "runs " : "run ",
                      ProgramName(c.topology, sides.rest_program));
}

std::string Say(const Case& c, const RestRuns& fact) {
  return SideText(c, fact.sides->rest, fact.sides->rest_program);
}

std::string Say(const Case& c, const RunsProgram& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " runs ", ProgramName(c.topology, fact.program));
}

std::string Say(const Case&, const PcieFatal& fact) {
  return absl::StrCat("PCIe reports ", Count(fact.errors, "fatal error"),
                      " on the chip since the job started");
}

std::string Say(const Case&, const BothEndsReportIci&) { return "both ends report the ICI fault"; }

std::string Say(const Case&, const ChipWordBeyondJob& fact) {
  return absl::StrCat("an agent out of the job's reach reports the fault of chip ", fact.chip,
                      " of its host: ", std::string(fact.text));
}

std::string Say(const Case&, const ChipWordWithinJob&) {
  return "the agent that reports the chip's fault is within the job's reach "
         "(--direct-evidence-from "
         "names others, or nobody): eligible only if it repeats";
}

std::string Say(const Case&, const PeersAgree& fact) {
  return absl::StrCat("its own side and the probes of ", Count(fact.peers, "peer"),
                      ", which reach others, agree");
}

struct Subjects {
  std::vector<int> operator()(const CoreStands& fact) const { return {fact.head->worker}; }
  std::vector<int> operator()(const Failure& fact) const { return {fact.event->worker}; }
  std::vector<int> operator()(const DeclaredDead& fact) const { return *fact.workers; }
  std::vector<int> operator()(const LoadersStandAlike& fact) const { return *fact.workers; }
  std::vector<int> operator()(const SetsCut& fact) const { return *fact.smaller; }
  std::vector<int> operator()(const PairBroken& fact) const {
    return {fact.pair.first, fact.pair.second};
  }
  std::vector<int> operator()(const AwaitEachOther& fact) const { return {fact.one, fact.other}; }
  std::vector<int> operator()(const BothEndsReportIci& fact) const {
    return {fact.one, fact.other};
  }
  std::vector<int> operator()(const HostStandsAt& fact) const { return {fact.head->worker}; }
  std::vector<int> operator()(const HostOwes& fact) const { return {fact.head->worker}; }
  std::vector<int> operator()(const StartUpWaits& fact) const { return *fact.workers; }
  std::vector<int> operator()(const StartedOtherwise& fact) const { return fact.difference->odd; }
  std::vector<int> operator()(const ReachedStage& fact) const { return *fact.workers; }
  std::vector<int> operator()(const StandInStartUp& fact) const { return *fact.workers; }
  std::vector<int> operator()(const NothingBegun&) const { return {}; }
  std::vector<int> operator()(const NoneSeenToWait&) const { return {}; }
  std::vector<int> operator()(const LoopsAre& fact) const { return *fact.workers; }
  std::vector<int> operator()(const CoresAdvance&) const { return {}; }
  std::vector<int> operator()(const LoopsAdvance&) const { return {}; }
  std::vector<int> operator()(const LogsAdvance& fact) const { return *fact.workers; }
  std::vector<int> operator()(const ProcessesWork& fact) const { return *fact.workers; }
  std::vector<int> operator()(const JobEnded&) const { return {}; }
  std::vector<int> operator()(const CompiledOtherwise& fact) const { return fact.sides->odd; }
  std::vector<int> operator()(const SidesApart& fact) const { return fact.sides->odd; }
  std::vector<int> operator()(const RestRuns& fact) const { return {fact.sides->rest.front()}; }
  std::vector<int> operator()(const RunEnded&) const { return {}; }
  std::vector<int> operator()(const StepsGoOn&) const { return {}; }
  std::vector<int> operator()(const LineOfNobody&) const { return {}; }
  template <typename T>
  std::vector<int> operator()(const T& fact) const {
    return {fact.worker};
  }
};

}  // namespace

std::vector<int> WorkersOf(const Fact& fact) { return std::visit(Subjects(), fact); }

std::string FactText(const Case& c, const Fact& fact) {
  return std::visit([&](const auto& one) { return Say(c, one); }, fact);
}

EvidenceItem Evidence(const Case& c, Strength strength, const Fact& fact) {
  return Evidence(c, strength, WorkersOf(fact), FactText(c, fact));
}

Culprit& Accuse(const Case& c, Strength strength, const Fact& fact, Finding& finding) {
  const int worker = WorkersOf(fact).front();
  if (finding.evidence.size() < kMaxEvidence) {
    finding.evidence.push_back(Evidence(c, strength, fact));
  }
  return finding.culprits.emplace_back(CulpritWorker(c, worker, FactText(c, fact)));
}

std::string_view WaitedFor(HostWait wait) {
  switch (wait) {
    case HostWait::kNone:
      break;
    case HostWait::kDevice:
      return "for the device or in a collective";
    case HostWait::kBarrier:
      return "at a barrier";
    case HostWait::kStartUp:
      return "for the job to be complete";
    case HostWait::kShutdown:
      return "for the others to end";
  }
  return "for nobody";
}

}  // namespace rapideye::classifier
