#include "classifier/findings/log_facts.h"

#include "absl/strings/str_cat.h"
#include "classifier/errors/coordination.h"
#include "classifier/findings/finding.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

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

// "ALLREDUCE of 1024 elements"
std::string OperationText(const NumberedCollective& collective) {
  const std::string size =
      collective.elements ? absl::StrCat(" of ", Count(*collective.elements, "element")) : "";
  return absl::StrCat(collective.operation, size);
}

std::string MissingText(const Case& c, const LogEnds& fact) {
  switch (fact.missing) {
    case Missing::kHeartbeats:
      return SendsNoHeartbeats(c.topology, fact.worker)
                 ? "and then the coordination service missed its heartbeats"
                 : "and then health checks of it failed";
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

}  // namespace

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

std::string Say(const Case& c, const AtOtherCollective& fact) {
  const NumberedCollective& own = *fact.own;
  const NumberedCollective& most = *fact.most;
  const std::string others =
      absl::StrCat(" of group ", Quote(most.group), ", while ", Count(fact.others, "other"));
  if (own.last_queued && *own.last_queued < *most.number) {
    return absl::StrCat(Who(c.worker(fact.worker)), " has queued nothing after collective ",
                        *own.last_queued, others, " wait in collective ", *most.number, ", ",
                        OperationText(most));
  }
  return absl::StrCat(Who(c.worker(fact.worker)), " waits in ", OperationText(own),
                      " as collective ", *own.number, others, " wait in ", OperationText(most));
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

}  // namespace rapideye::classifier
