#include "classifier/facts.h"

#include "absl/strings/str_cat.h"
#include "classifier/coordination.h"
#include "classifier/phrases.h"
#include "classifier/thresholds.h"

namespace rapideye::classifier {
namespace {

// The evidence that a silent worker lacks: where logs are the only evidence, every worker lacks
// snapshots.
std::string_view WhatIsMissing(const Case& c) {
  return c.logs == nullptr ? "sent no snapshot" : "has no log here";
}

std::string SilenceText(const Case& c, Silence silence) {
  switch (silence) {
    case Silence::kProbesFail:
      return "sent no snapshot, and every probe of it fails";
    case Silence::kTakesNoBytes:
      return "sent no snapshot, and acknowledges nothing that its peers send";
    case Silence::kNoHeartbeats:
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
  return absl::StrCat(Who(c.worker(fact.worker)), " ", SilenceText(c, fact.silence));
}

std::string Say(const Case& c, const MissedBarrier& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " ", MissedText(fact), " (",
                      Quote(fact.barrier->id), ", ", fact.barrier->came, " of ",
                      c.topology.workers().size(), " came)");
}

std::string Say(const Case& c, const BusyWhileAwaited& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " ", fact.place->text, ", while ",
                      WhoAll(c.topology, *fact.waiting), " waited in vain for others");
}

std::string Say(const Case& c, const DeclaredDead& fact) {
  return absl::StrCat(
      "the coordination service declared ", WhoAll(c.topology, *fact.workers),
      " dead for want of heartbeats, ",
      fact.heard ? "though its process lived to hear so" : "while its device advanced");
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

std::string Say(const Case& c, const LaunchesDiffer& fact) {
  std::string text =
      absl::StrCat(Who(c.worker(fact.worker)), " ", std::string(DiffersText(fact.differs)));
  const std::string chain = ChainText(c, fact.worker);
  if (!chain.empty()) absl::StrAppend(&text, ": ", chain);
  return text;
}

std::string LastWords(const WorkerLog& log) {
  std::string text;
  if (log.step) absl::StrAppend(&text, " after step ", *log.step);
  if (log.last_line_ms && *log.last_line_ms >= 1000) {
    absl::StrAppend(&text, ", ", Span(*log.last_line_ms), " before the end of the logs");
  }
  if (!log.last_line.empty()) {
    absl::StrAppend(&text, " (its last line: ", Quote(log.last_line), ")");
  }
  return text;
}

std::string MissingText(const Case& c, const LogEnds& fact) {
  switch (fact.missing) {
    case Missing::kHeartbeats:
      return "and then the coordination service missed its heartbeats";
    case Missing::kLeader:
      return absl::StrCat("and the coordination service, which it runs, did not answer ",
                          Count(fact.others, "other"));
    case Missing::kClosed:
      return absl::StrCat("while connections to a peer were closed for ",
                          WhoAll(c.topology, *fact.closed));
    case Missing::kWaits:
      return absl::StrCat("while ", Count(fact.others, "other"), " waited for it until a time-out");
  }
  return "";
}

std::string Say(const Case& c, const LogEnds& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)),
                      fact.log == nullptr
                          ? (c.logs != nullptr && c.logs->shared
                                 ? ": the log that the others share has no line of it"
                                 : ": there is no log of it")
                          : absl::StrCat(" says nothing more", LastWords(*fact.log)),
                      ", ", MissingText(c, fact));
}

std::string Say(const Case& c, const LogRepeats& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " tries again and again, ", fact.log->retries,
                      " times so far: ", Quote(fact.log->retried));
}

std::string Say(const Case& c, const AwaitedByName& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " did not come, in the words of ",
                      Who(c.worker(fact.reporter)), ": ", Quote(fact.text));
}

std::string Say(const Case& c, const BegunAlone& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " says nothing more", LastWords(*fact.log),
                      ", and all others have gone on: ", Quote(fact.finished));
}

std::string Say(const Case& c, const StartUpLingers& fact) {
  return absl::StrCat("the TPU of ", Who(c.worker(fact.worker)),
                      " waits for the other hosts of its slice: ", Quote(fact.text));
}

std::string Say(const Case& c, const PortFailed& fact) {
  return absl::StrCat(
      Who(c.worker(fact.worker)),
      ": its adapter reports an error of its own port, after which no step was made: ",
      Quote(fact.text));
}

std::string Say(const Case& c, const CaughtSigterm& fact) {
  return absl::StrCat(Who(c.worker(fact.worker)), " caught a SIGTERM");
}

std::string Say(const Case&, const MachineTaken& fact) {
  return absl::StrCat("the platform took a machine back, and no step was made after that: ",
                      Quote(fact.text));
}

std::string Say(const Case& c, const RunEnded& fact) {
  const std::string who = WhoAll(c.topology, *fact.workers);
  if (fact.text.empty()) {
    return absl::StrCat("the run has ended: ", who,
                        " was told to stop (SIGTERM), and no error came before it");
  }
  return absl::StrCat("the run has ended: ", who, " ", fact.workers->size() == 1 ? "says" : "say",
                      " so (", Quote(fact.text), ")");
}

std::string Say(const Case& c, const StepsGoOn& fact) {
  return absl::StrCat(
      "steps go on to the end of the logs, and nobody speaks of an error; the last one is ",
      fact.step, " (", WhoAll(c.topology, *fact.workers), ")");
}

std::string Say(const Case&, const LineOfNobody& fact) {
  return absl::StrCat("a log of several workers, whose lines do not tell whose they are, says: ",
                      Quote(fact.text));
}

struct Subjects {
  std::vector<int> operator()(const CoreStands& fact) const { return {fact.head->worker}; }
  std::vector<int> operator()(const Failure& fact) const { return {fact.event->worker}; }
  std::vector<int> operator()(const DeclaredDead& fact) const { return *fact.workers; }
  std::vector<int> operator()(const SetsCut& fact) const { return *fact.smaller; }
  std::vector<int> operator()(const PairBroken& fact) const {
    return {fact.pair.first, fact.pair.second};
  }
  std::vector<int> operator()(const AwaitEachOther& fact) const { return {fact.one, fact.other}; }
  std::vector<int> operator()(const HostStandsAt& fact) const { return {fact.head->worker}; }
  std::vector<int> operator()(const HostOwes& fact) const { return {fact.head->worker}; }
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
