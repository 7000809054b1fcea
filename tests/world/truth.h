// Truth states what really happened in a world, and judges a verdict by it.
#ifndef RAPIDEYE_TESTS_WORLD_TRUTH_H_
#define RAPIDEYE_TESTS_WORLD_TRUTH_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::world {

struct Accused {
  WorkerId worker;
  std::optional<int> chip;  // of the host; absent: the worker as a whole
  auto operator<=>(const Accused&) const = default;
};

// A verdict that is right.
struct Accepted {
  std::string cause;              // as CauseName says
  std::set<std::string> details;  // empty: any
  std::set<Accused> culprits;     // empty: nobody
  bool some_of = false;           // at least one of the culprits and nobody else; else all
};

// One of several independent faults, and the verdicts that would be right of it alone.
struct Befell {
  size_t faults = 0;  // so many of Plan::faults, in their order
  std::vector<Accepted> accepted;
};

struct Truth {
  std::vector<Accepted> accepted;  // the best first; of several faults: of any of them
  std::vector<Befell> events;      // empty: one fault, or none
  std::optional<HostActivity> activity;
  std::set<WorkerId> removable;  // whose hardware is broken: the others are healthy
  bool hang = true;
};

struct Judgement {
  bool cause = false;
  bool detail = false;
  bool culprits = false;
  bool activity = false;         // hostActivity of a culprit, where the truth states one
  bool accuses_wrongly = false;  // names a worker or chip that no accepted verdict names
  bool removes_wrongly = false;  // a healthy host would be eligible for removal
  // Faults that are not the verdict's cause, of several; and how many of them it names beside it.
  int others = 0;
  int others_named = 0;
  // The verdict says a fault of its own of a worker or chip that no fault befell.
  bool adds_wrongly = false;
};

// Makes `accepted` from `events`, of those whose first fault has happened (`happened`: as
// Plan::faults). Leaves a truth without events as it is.
void AcceptWhatBefell(const std::vector<bool>& happened, Truth& truth);

Judgement Judge(const Truth& truth, const Verdict& verdict);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_TRUTH_H_
