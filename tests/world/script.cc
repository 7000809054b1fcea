#include "tests/world/script.h"

#include <utility>

#include "tests/world/engine.h"

namespace rapideye::world {
namespace {

constexpr int kShutdownBarrier = 1 << 20;

std::vector<int> StepPrograms(const Plan& plan, int worker, int step) {
  const auto& by_stage = plan.schedule.step;
  const size_t stage =
      plan.shape.stages ? static_cast<size_t>(plan.shape.slice_of_worker(worker)) : 0;
  std::vector<int> programs = by_stage[stage];
  const auto departure = plan.departures.find(worker);
  if (departure == plan.departures.end() || step < departure->second.from_step) {
    return programs;
  }
  for (int& program : programs) {
    const auto instead = departure->second.instead.find(program);
    program = instead == departure->second.instead.end() ? program : instead->second;
  }
  if (const auto& swap = departure->second.swap; swap.has_value()) {
    std::swap(programs[static_cast<size_t>(swap->first)],
              programs[static_cast<size_t>(swap->second)]);
  }
  if (departure->second.leaves_out.has_value() && step == departure->second.from_step) {
    programs.erase(programs.begin() + *departure->second.leaves_out);
  }
  return programs;
}

void WriteLaunches(HostState& host, const std::vector<int>& programs, Phase phase) {
  for (const int program : programs) {
    if (host.compiled.insert(program).second) {
      host.script.push_back({HostState::Does::kCompile, Phase::kCompile, program});
    }
    host.script.push_back({HostState::Does::kDispatch, phase, program});
  }
}

}  // namespace

void WriteStep(const Plan& plan, int worker, HostState& host) {
  using Does = HostState::Does;
  const Schedule& schedule = plan.schedule;
  ++host.step;
  const size_t stage =
      plan.shape.stages ? static_cast<size_t>(plan.shape.slice_of_worker(worker)) : 0;
  host.script.push_back({Does::kBatch, Phase::kInput, 0});
  WriteLaunches(host, StepPrograms(plan, worker, host.step), Phase::kStep);
  if (host.step % schedule.log_every == 0) {
    host.script.push_back({Does::kAwait, Phase::kStep, 0});
  }
  if (schedule.evaluate_every > 0 && host.step % schedule.evaluate_every == 0) {
    for (int i = 0; i < schedule.evaluation_launches; ++i) {
      WriteLaunches(host, {schedule.evaluation[stage]}, Phase::kEval);
    }
    host.script.push_back({Does::kAwait, Phase::kEval, 0});
  }
  if (schedule.save_every > 0 && host.step % schedule.save_every == 0) {
    WriteLaunches(host, {schedule.save[stage]}, Phase::kCheckpoint);
    host.script.push_back({Does::kAwait, Phase::kCheckpoint, 0});
    host.script.push_back({Does::kWrite, Phase::kCheckpoint, 0});
    host.script.push_back({Does::kBarrier, Phase::kCheckpoint, host.step});
  }
  if (schedule.last_step > 0 && host.step == schedule.last_step) {
    host.script.push_back({Does::kAwait, Phase::kStep, 0});
    host.script.push_back({Does::kBarrier, Phase::kUnspecified, kShutdownBarrier});
    host.script.push_back({Does::kFinish, Phase::kUnspecified, 0});
  }
}

}  // namespace rapideye::world
