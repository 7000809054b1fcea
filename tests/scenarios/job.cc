#include "tests/scenarios/job.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace rapideye::scenarios {
namespace {

// Share of jobs in whose steps a program runs several times.
constexpr double kRepeatShare = 0.25;
// Share of jobs with a spare slice.
constexpr double kStandbyShare = 0.1;

using Names = std::vector<const char*>;

Names ModuleNames(int programs, Random& random) {
  switch (programs) {
    case 1:
      return {random.Pick(std::array<const char*, 3>{"jit_train_step", "jit__multi_slice_step",
                                                     "jit_loss_and_grad"})};
    case 2:
      return {random.Pick(std::array<const char*, 2>{"jit_loss_and_grad", "jit_train_step"}),
              "jit_optimizer_apply"};
    default:
      return {"jit_forward", "jit_backward", "jit_optimizer_apply"};
  }
}

// Every slice runs the same programs; the cross-slice exchange is a ring.
void AddDataParallelPrograms(const JobRequest& request, Random& random, Job& job) {
  const int count = static_cast<int>(random.Between(request.min_programs, request.max_programs));
  const bool sparse = job.layout.sparse_cores_per_device > 0;
  const bool offload = sparse && (request.sparse_collectives < 0 ? random.Chance(0.35)
                                                                 : request.sparse_collectives == 1);
  const int exchanging = random.Index(static_cast<size_t>(count));  // at least this one does
  // Microbatches: one program runs several times in a step.
  const int repeated = random.Chance(kRepeatShare) ? random.Index(static_cast<size_t>(count)) : -1;
  std::vector<int> step;
  int channel = 1;
  const Names names = ModuleNames(count, random);
  for (int i = 0; i < count; ++i) {
    const bool exchanges = job.layout.slices > 1 && (i == exchanging || random.Chance(0.4));
    const ProgramRequest program{
        .module = names[static_cast<size_t>(i)],
        .collectives = static_cast<int>(random.Between(1, 3)),
        .cross_slice = exchanges ? CrossSlice::kRing : CrossSlice::kNone,
        .infeed = i == 0 && request.infeed,
        .sparse_work = i == 0 && sparse && (request.sparse_work || random.Chance(0.2)),
        .sparse_collectives = offload,
        .tail = request.tail || random.Chance(0.5)};
    job.programs.push_back(MakeProgram(program, random, channel));
    const int runs = i == repeated ? static_cast<int>(random.Between(2, 4)) : 1;
    step.insert(step.end(), static_cast<size_t>(runs), i);
  }
  job.steps.assign(static_cast<size_t>(job.layout.slices), step);
}

// Slice s is stage s: forward passes activations to s + 1, backward passes
// gradients to s - 1, the optimizer stays inside.
void AddPipelinePrograms(Random& random, Job& job) {
  constexpr int kForwardChannels = 1000;
  constexpr int kBackwardChannels = 2000;
  const int last = job.layout.slices - 1;
  const bool optimizer = random.Chance(0.6);
  const auto microbatches =
      static_cast<size_t>(random.Chance(kRepeatShare) ? random.Between(2, 3) : 1);
  for (int stage = 0; stage <= last; ++stage) {
    std::vector<int> step;
    ProgramBuilder forward(absl::StrCat("jit_stage", stage, "_fwd"), random);
    if (stage > 0) forward.Exchange(0, 0, -1, kForwardChannels + stage - 1);
    forward.Compute();
    forward.Collective();
    forward.Compute();
    if (stage < last) forward.Exchange(+1, kForwardChannels + stage, 0, 0);
    step.insert(step.end(), microbatches, static_cast<int>(job.programs.size()));
    job.programs.push_back(std::move(forward).Finish());

    ProgramBuilder backward(absl::StrCat("jit_stage", stage, "_bwd"), random);
    if (stage < last) backward.Exchange(0, 0, +1, kBackwardChannels + stage + 1);
    backward.Compute();
    backward.Collective();
    if (stage > 0) backward.Exchange(-1, kBackwardChannels + stage, 0, 0);
    step.insert(step.end(), microbatches, static_cast<int>(job.programs.size()));
    job.programs.push_back(std::move(backward).Finish());

    if (optimizer) {
      ProgramBuilder apply(absl::StrCat("jit_stage", stage, "_apply"), random);
      apply.Compute();
      apply.Collective();
      apply.Compute();
      step.push_back(static_cast<int>(job.programs.size()));
      job.programs.push_back(std::move(apply).Finish());
    }
    job.steps.push_back(std::move(step));
  }
}

}  // namespace

Job MakeJob(const JobRequest& request, Random& random) {
  Job job;
  job.name =
      random.Pick(std::array<const char*, 4>{"llama-70b", "moe-8x22b", "gemma3-27b-pt", "dlrm-v3"});
  job.layout = MakeLayout(request.layout, random);
  job.pipeline = request.pipeline;
  if (request.pipeline) {
    AddPipelinePrograms(random, job);
  } else {
    AddDataParallelPrograms(request, random, job);
  }
  if (request.standby && random.Chance(kStandbyShare)) AddStandby(random, job.layout);
  job.first_step = random.Between(30, 20000);
  job.dispatch_ahead = static_cast<int>(random.Between(1, 3));
  job.dispatch_scope =
      request.job_scope_dispatch || random.Chance(0.7) ? DispatchScope::kJob : DispatchScope::kHost;
  job.exchange_per_worker = random.Chance(0.75);
  return job;
}

int64_t Job::RunAt(int slice, int64_t step, int entry) const {
  const std::vector<int>& programs = steps[static_cast<size_t>(slice)];
  const int program = programs[static_cast<size_t>(entry)];
  const auto per_step = std::count(programs.begin(), programs.end(), program);
  const auto before = std::count(programs.begin(), programs.begin() + entry, program);
  return step * per_step + before;
}

int32_t LaunchId(const Program& program, int64_t run) {
  return static_cast<int32_t>(static_cast<uint32_t>(program.launch_base) +
                              static_cast<uint32_t>(run));
}

}  // namespace rapideye::scenarios
