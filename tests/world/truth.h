// Truth states what really happened in a world, and judges a verdict by it.
#ifndef RAPIDEYE_TESTS_WORLD_TRUTH_H_
#define RAPIDEYE_TESTS_WORLD_TRUTH_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "classifier/verdict.h"
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

struct Truth {
  std::vector<Accepted> accepted;  // the best first
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
};

Judgement Judge(const Truth& truth, const Verdict& verdict);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_TRUTH_H_
