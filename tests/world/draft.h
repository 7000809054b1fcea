// Draft draws a job in health and lets a kind of fault break it.
#ifndef RAPIDEYE_TESTS_WORLD_DRAFT_H_
#define RAPIDEYE_TESTS_WORLD_DRAFT_H_

#include <set>
#include <string>
#include <vector>

#include "tests/world/plan.h"

namespace rapideye::world {

// Needs of a kind of fault beside the shape of the job.
struct JobNeeds {
  ShapeNeeds shape;
  bool two_programs = false;  // a step of more than one
  bool evaluation = false;    // at the step of the fault
  bool save = false;          // likewise
  bool infeed = false;
  bool callback = false;
  bool sparse = false;
  bool kernel = false;
};

struct Draft {
  Plan plan;
  Random random;

  int AnyWorker() { return random.Below(plan.shape.workers()); }
  int AnyDevice() { return random.Below(plan.shape.devices()); }
  // Slice and task of the worker with this number.
  WorkerId Id(int worker) const { return plan.shape.id_of(worker); }
  Accused Worker(int worker) const { return {.worker = Id(worker)}; }
  Accused Chip(int device) const {
    return {.worker = Id(plan.shape.worker_of(device)), .chip = plan.shape.chip_of(device)};
  }
  std::set<Accused> Workers(const std::set<int>& workers) const;

  // Adds a fault of that worker at the step that was drawn for faults, somewhere in it.
  Fault& Break(Happening what, int worker);
  void Accept(std::string cause, std::set<std::string> details, std::set<Accused> culprits,
              bool some_of = false);
  // The fault leaves no doubt: the look comes soon after it, by that trigger, or with the alarm.
  void MayLookSoon(const std::string& trigger);
  void NoHang(std::set<std::string> details);
  // The job goes on; an operator asks somewhere in the step of the fault.
  void OperatorAsks();
};

Draft DrawDraft(std::string_view kind, uint64_t seed, int noise, const JobNeeds& needs);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_DRAFT_H_
