#include "classifier/facts.h"

#include "absl/strings/str_cat.h"
#include "classifier/coordination.h"
#include "classifier/phrases.h"

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

struct Sayer {
  const Case& c;

  std::string operator()(const CoreStands& fact) const {
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

  std::string operator()(const CoreStoppedFirst& fact) const {
    return absl::StrCat(CoreName(*fact.core), " of ", Who(c.worker(fact.worker)),
                        " stopped first, at least ", Span(fact.ahead_ms), " before ",
                        Count(fact.others, "other core"), " that told when they stopped");
  }

  std::string operator()(const HardwareReport& fact) const {
    return absl::StrCat(Who(c.worker(fact.worker)), ": ", fact.text);
  }

  std::string operator()(const WorkerSilent& fact) const {
    return absl::StrCat(Who(c.worker(fact.worker)), " ", SilenceText(c, fact.silence));
  }
};

struct Subject {
  int operator()(const CoreStands& fact) const { return fact.head->worker; }
  template <typename T>
  int operator()(const T& fact) const {
    return fact.worker;
  }
};

}  // namespace

int WorkerOf(const Fact& fact) { return std::visit(Subject(), fact); }

std::string FactText(const Case& c, const Fact& fact) { return std::visit(Sayer{c}, fact); }

EvidenceItem Evidence(const Case& c, Strength strength, const Fact& fact) {
  return Evidence(c, strength, {WorkerOf(fact)}, FactText(c, fact));
}

}  // namespace rapideye::classifier
