#include "tests/world/draft.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::world {
namespace {

int Add(Plan& plan, Program program) {
  plan.programs.push_back(std::move(program));
  return static_cast<int>(plan.programs.size()) - 1;
}

void DrawStep(Draft& draft, const JobNeeds& needs, int stage) {
  Plan& plan = draft.plan;
  Random& random = draft.random;
  ProgramNeeds main{.purpose = Purpose::kTrain,
                    .seconds = plan.schedule.step_seconds,
                    .stage = stage,
                    .infeed = needs.infeed,
                    .callback = needs.callback,
                    .sparse = needs.sparse,
                    .kernel = needs.kernel};
  const int style = needs.two_programs ? random.Between(1, 2) : random.Below(4);
  std::vector<int> step;
  if (style == 1) {
    main.purpose = Purpose::kGradients;
    main.seconds *= 0.8;
    step.push_back(Add(plan, DrawProgram(random, plan.shape, main)));
    step.push_back(Add(plan, DrawProgram(random, plan.shape,
                                         {.purpose = Purpose::kOptimizer,
                                          .seconds = plan.schedule.step_seconds * 0.2})));
  } else {
    step.push_back(Add(plan, DrawProgram(random, plan.shape, main)));
  }
  if (style == 2) {
    step.push_back(Add(plan, DrawProgram(random, plan.shape,
                                         {.purpose = Purpose::kMetrics,
                                          .seconds = plan.schedule.step_seconds * 0.05})));
  }
  plan.schedule.step.push_back(std::move(step));
  plan.schedule.evaluation.push_back(
      Add(plan, DrawProgram(random, plan.shape,
                            {.purpose = Purpose::kEvaluation,
                             .seconds = plan.schedule.step_seconds * random.Uniform(0.2, 0.8)})));
  plan.schedule.save.push_back(Add(
      plan, DrawProgram(random, plan.shape,
                        {.purpose = Purpose::kSave, .seconds = plan.schedule.step_seconds * 0.1})));
}

// The step at which something will happen, and what the schedule holds there.
void DrawSchedule(Draft& draft, const JobNeeds& needs, int step) {
  Schedule& schedule = draft.plan.schedule;
  Random& random = draft.random;
  schedule.evaluate_every = needs.evaluation ? step : random.Chance(0.4) ? random.Between(3, 8) : 0;
  schedule.evaluation_launches = random.Between(1, 4);
  schedule.save_every = needs.save ? step : random.Chance(0.5) ? random.Between(3, 9) : 0;
  schedule.write_seconds = random.LogUniform(1, 20);
  schedule.log_every = random.Chance(0.5) ? 1 : random.Between(2, 10);
  schedule.launches_ahead = random.Between(2, 8);
  schedule.batch_seconds = schedule.step_seconds * random.Uniform(0.2, 0.7);
  schedule.buffered_batches = random.Between(1, 8);
  schedule.jitter = random.LogUniform(0.002, 0.08);
}

void DrawEvidence(Draft& draft) {
  EvidenceAvailable& seen = draft.plan.evidence;
  Random& random = draft.random;
  if (random.Chance(0.6)) {
    for (bool* part : {&seen.hlo, &seen.hlo_text, &seen.sequence, &seen.page, &seen.sockets,
                       &seen.probes, &seen.stacks, &seen.logs}) {
      *part = !random.Chance(0.25);
    }
    seen.old_runtime = random.Chance(0.1);
  }
  seen.hlo = seen.hlo && !seen.old_runtime;
  seen.ici_health = random.Chance(0.2);
}

double LongestPause(const Plan& plan) {
  double longest = std::max({plan.schedule.step_seconds, plan.schedule.write_seconds, 5.0});
  for (const Program& program : plan.programs) {
    longest = std::max(longest, program.compile_seconds);
  }
  return longest;
}

}  // namespace

std::set<Accused> Draft::Workers(const std::set<int>& workers) const {
  std::set<Accused> accused;
  for (const int worker : workers) {
    accused.insert(Worker(worker));
  }
  return accused;
}

Fault& Draft::Break(Happening what, int worker) {
  plan.faults.push_back({.what = what,
                         .step = plan.fault_step,
                         .delay = random.Uniform(0, 1.2 * plan.schedule.step_seconds),
                         .worker = worker});
  return plan.faults.back();
}

void Draft::Accept(std::string cause, std::set<std::string> details, std::set<Accused> culprits,
                   bool some_of) {
  plan.truth.accepted.push_back(
      {std::move(cause), std::move(details), std::move(culprits), some_of});
}

void Draft::MayLookSoon(const std::string& trigger) {
  if (random.Chance(0.5) && plan.evidence.logs) {
    plan.looks_after_fault = random.Uniform(3, 12);
    plan.trigger = trigger;
  }
}

void Draft::NoHang(std::set<std::string> details) {
  plan.truth.hang = false;
  Accept("NO_HANG", std::move(details), {});
}

void Draft::OperatorAsks() {
  plan.trigger = "operator";
  plan.looks_at_step = {plan.fault_step, random.Uniform(0, 1.2 * plan.schedule.step_seconds)};
}

Draft DrawDraft(std::string_view kind, uint64_t seed, int noise, const JobNeeds& needs) {
  Draft draft{.plan = {}, .random = Random(seed).Fork(kind)};
  Plan& plan = draft.plan;
  plan.seed = seed;
  plan.kind = kind;
  plan.noise = noise;
  plan.shape = DrawShape(draft.random, needs.shape);
  plan.schedule.step_seconds = draft.random.LogUniform(0.4, 30);
  plan.fault_step = draft.random.Between(3, 6);
  JobNeeds drawn = needs;
  drawn.sparse = plan.shape.sparse_cores > 0 && (needs.sparse || draft.random.Chance(0.3));
  drawn.callback = needs.callback || draft.random.Chance(0.1);
  drawn.infeed = needs.infeed || draft.random.Chance(0.1);
  for (int stage = 0; stage < (plan.shape.stages ? plan.shape.slices : 1); ++stage) {
    DrawStep(draft, drawn, plan.shape.stages ? stage : -1);
  }
  DrawSchedule(draft, drawn, plan.fault_step);
  DrawEvidence(draft);
  plan.poll_seconds = draft.random.LogUniform(1, 8);
  // Draws in a statement of its own: a compiler may evaluate arguments in any order.
  const double slack = draft.random.Uniform(1, 1.3);
  plan.threshold = std::max(draft.random.Uniform(20, 90), 3 * LongestPause(plan) * slack);
  return draft;
}

}  // namespace rapideye::world
