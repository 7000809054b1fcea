#include "coordinator/core/learning.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "classifier/host/pause.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using Programs = std::set<ProgramNumber>;

bool Contains(const Programs& whole, const Programs& part) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

template <typename Groups>
bool IsMaximal(const Groups& groups, const Programs& programs) {
  return std::none_of(groups.begin(), groups.end(), [&](const auto& group) {
    return group.first.size() > programs.size() && Contains(group.first, programs);
  });
}

}  // namespace

std::optional<ProgramNumber> Learning::Number(const std::string& fingerprint) {
  auto found = numbers_.find(fingerprint);
  if (found != numbers_.end()) return found->second;
  if (fingerprints_.size() >= kMaxPrograms) return std::nullopt;
  const auto number = static_cast<ProgramNumber>(fingerprints_.size());
  numbers_[fingerprint] = number;
  fingerprints_.push_back(fingerprint);
  programs_.emplace_back();
  return number;
}

void Learning::Observe(const WorkerId& worker, const wire::Heartbeat& heartbeat, bool progressed) {
  WorkerFacts& facts = workers_[worker];
  ObservePrograms(facts, heartbeat);
  ObservePauses(facts, heartbeat);
  ObservePhase(facts, heartbeat.progress);
  if (!progressed) return;
  facts.after_incident = false;
  ObserveQueue(facts, heartbeat);
}

void Learning::ObserveStep(const WorkerId& worker, absl::Duration took) {
  if (workers_[worker].after_incident) return;
  longest_step_ = std::max(longest_step_, std::min(took, kMaxLearntPause));
}

void Learning::ObservePrograms(WorkerFacts& facts, const wire::Heartbeat& heartbeat) {
  for (const wire::ProgramStatistics& statistics : heartbeat.programs) {
    const std::optional<ProgramNumber> number = Number(statistics.fingerprint);
    if (!number.has_value()) continue;
    if (statistics.module.has_value() &&
        (modules_.size() < kMaxPrograms || modules_.contains(statistics.fingerprint))) {
      modules_[statistics.fingerprint] = *statistics.module;
    }
    if (statistics.completed <= 0) continue;
    ProgramFacts& program = programs_[*number];
    program.completed = true;
    CountLaunches(*number, statistics.completed, facts);
    if (!statistics.longest.has_value() || *statistics.longest <= program.longest) continue;
    if (facts.after_incident) {
      facts.distrusted_launches[*number] = *statistics.longest;
      continue;
    }
    auto distrusted = facts.distrusted_launches.find(*number);
    if (distrusted != facts.distrusted_launches.end() &&
        distrusted->second == *statistics.longest) {
      continue;
    }
    program.longest = *statistics.longest;
  }
  Fade(facts);
}

void Learning::CountLaunches(ProgramNumber program, int64_t reported, WorkerFacts& facts) {
  int64_t& before = facts.reported[program];
  // An agent that restarts counts anew.
  const int64_t launches = reported >= before ? reported - before : reported;
  before = reported;
  if (launches > 0) facts.completed[program] += launches;
}

void Learning::Fade(WorkerFacts& facts) {
  int64_t all = 0;
  for (const auto& [program, launches] : facts.completed) {
    all += std::min(launches, kMaxCountedLaunches);
  }
  for (; all > kRecentLaunches; all /= 2) {
    for (auto& [program, launches] : facts.completed) {
      launches = std::min(launches, kMaxCountedLaunches) / 2;
    }
    std::erase_if(facts.completed, [](const auto& entry) { return entry.second == 0; });
  }
}

void Learning::ObservePauses(WorkerFacts& facts, const wire::Heartbeat& heartbeat) {
  const auto learn = [&facts](std::optional<absl::Duration> pause, absl::Duration& distrusted,
                              absl::Duration& longest) {
    if (!pause.has_value() || *pause <= longest) return;
    if (facts.after_incident) distrusted = *pause;
    if (*pause == distrusted) return;
    longest = std::min(*pause, kMaxLearntPause);
  };
  learn(heartbeat.longest_pause, facts.distrusted_pause, longest_pause_);
  learn(heartbeat.longest_unannounced_pause, facts.distrusted_unannounced_pause,
        longest_unannounced_pause_);
  if (!heartbeat.step_lines.has_value()) return;
  learn(heartbeat.step_lines->longest, facts.distrusted_step_lines, longest_step_lines_);
}

// Only a phase that has ended is known to have been healthy.
void Learning::ObservePhase(WorkerFacts& facts, const std::optional<rapideye::Progress>& progress) {
  Phase phase = Phase::kUnspecified;
  absl::Duration phase_for = absl::ZeroDuration();
  if (progress.has_value() && AnnouncesPause(progress->phase)) {
    phase = progress->phase;
    phase_for = absl::Milliseconds(progress->phase_ms.value_or(0));
  }
  const bool ended = phase != facts.phase || phase_for < facts.phase_for;
  if (ended && facts.phase != Phase::kUnspecified && !facts.after_incident) {
    absl::Duration& longest = longest_phase_[facts.phase];
    longest = std::max(longest, std::min(facts.phase_for, kMaxLearntPause));
  }
  facts.phase = phase;
  facts.phase_for = phase_for;
}

absl::Duration Learning::LongestPhase(Phase phase) const {
  const auto found = longest_phase_.find(phase);
  return found == longest_phase_.end() ? absl::ZeroDuration() : found->second;
}

LearntPauses Learning::Pauses() const {
  return {.step = longest_step_,
          .step_lines = longest_step_lines_,
          .pause = longest_pause_,
          .unannounced_pause = longest_unannounced_pause_,
          .compile = LongestPhase(Phase::kCompile),
          .checkpoint = LongestPhase(Phase::kCheckpoint),
          .eval = LongestPhase(Phase::kEval)};
}

void Learning::Restore(const LearntPauses& before) {
  const auto restore = [](absl::Duration was, absl::Duration& longest) {
    longest = std::max(longest, std::min(was, kMaxLearntPause));
  };
  restore(before.step, longest_step_);
  restore(before.step_lines, longest_step_lines_);
  restore(before.pause, longest_pause_);
  restore(before.unannounced_pause, longest_unannounced_pause_);
  restore(before.compile, longest_phase_[Phase::kCompile]);
  restore(before.checkpoint, longest_phase_[Phase::kCheckpoint]);
  restore(before.eval, longest_phase_[Phase::kEval]);
}

void Learning::ObserveQueue(WorkerFacts& facts, const wire::Heartbeat& heartbeat) {
  std::vector<Launch> queue;
  for (const wire::QueueEntry& entry : heartbeat.queue) {
    const std::optional<ProgramNumber> number = Number(entry.fingerprint);
    // A gap in the queue would make up an order that never ran.
    if (!number.has_value() || !entry.launch_id.has_value()) break;
    queue.push_back({*number, *entry.launch_id});
  }
  facts.launches.Append(queue);
}

void Learning::AfterIncident() {
  for (auto& [worker, facts] : workers_) facts.after_incident = true;
}

void Learning::ObserveModules(const std::vector<Program>& programs) {
  for (const Program& program : programs) {
    if (program.module.has_value() && modules_.size() < kMaxPrograms) {
      modules_.try_emplace(program.fingerprint, *program.module);
    }
  }
}

std::optional<std::string> Learning::ModuleOf(const std::string& fingerprint) const {
  auto found = modules_.find(fingerprint);
  if (found == modules_.end()) return std::nullopt;
  return found->second;
}

bool Learning::HasCompleted(const std::string& fingerprint) const {
  auto found = numbers_.find(fingerprint);
  return found != numbers_.end() && programs_[found->second].completed;
}

absl::Duration Learning::LongestLaunch(const std::optional<std::string>& fingerprint) const {
  if (fingerprint.has_value()) {
    auto found = numbers_.find(*fingerprint);
    if (found != numbers_.end()) return programs_[found->second].longest;
  }
  absl::Duration longest = absl::ZeroDuration();
  for (const ProgramFacts& program : programs_) longest = std::max(longest, program.longest);
  return longest;
}

Learning::ProgramSet Learning::SteadyPrograms(const WorkerId& worker) const {
  ProgramSet steady;
  auto facts = workers_.find(worker);
  if (facts == workers_.end()) return steady;
  int64_t most = 0;
  for (const auto& [program, count] : facts->second.completed) most = std::max(most, count);
  for (const auto& [program, count] : facts->second.completed) {
    if (count * kSteadyShare >= most) steady.insert(program);
  }
  return steady;
}

Learning::Groups Learning::GroupByPrograms(const std::vector<WorkerId>& members) const {
  Groups exact;
  for (const WorkerId& worker : members) exact[SteadyPrograms(worker)].push_back(worker);
  const std::vector<WorkerId> idle = std::move(exact[ProgramSet()]);
  exact.erase(ProgramSet());
  if (exact.size() > kMaxCohorts) return {};
  // A subset is a larger set seen for a shorter time, or without the programs that a
  // worker runs alone; its group joins the largest group that holds it.
  Groups groups;
  for (const auto& [programs, workers] : exact) {
    const auto* home = &programs;
    size_t size = 0;
    for (const auto& [other, others] : exact) {
      const bool part = other.size() > programs.size() && Contains(other, programs);
      if (part && IsMaximal(exact, other) && others.size() > size) {
        home = &other;
        size = others.size();
      }
    }
    std::vector<WorkerId>& group = groups[*home];
    group.insert(group.end(), workers.begin(), workers.end());
  }
  PlaceIdle(idle, groups);
  for (auto& [programs, workers] : groups) std::sort(workers.begin(), workers.end());
  return groups;
}

int64_t Learning::MostLaunches() const {
  int64_t most = 0;
  for (const auto& [worker, facts] : workers_) {
    int64_t sum = 0;
    for (const auto& [program, count] : facts.completed) sum += count;
    most = std::max(most, sum);
  }
  return most;
}

void Learning::PlaceIdle(const std::vector<WorkerId>& idle, Groups& groups) const {
  if (groups.empty()) return;
  std::map<int32_t, std::map<const std::vector<WorkerId>*, int64_t>> by_slice;
  std::vector<WorkerId>* largest = &groups.begin()->second;
  std::map<const std::vector<WorkerId>*, std::vector<WorkerId>*> writable;
  for (auto& [programs, workers] : groups) {
    if (workers.size() > largest->size()) largest = &workers;
    writable[&workers] = &workers;
    for (const WorkerId& worker : workers) ++by_slice[worker.slice][&workers];
  }
  std::map<int32_t, std::vector<WorkerId>*> home;
  for (const auto& [slice, votes] : by_slice) {
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    home[slice] = writable[most->first];
  }
  const bool long_at_work = MostLaunches() >= kStandbyAfter;
  for (const WorkerId& worker : idle) {
    auto found = home.find(worker.slice);
    // A whole slice that is watched and never ran anything while others ran all
    // the time is on standby: it has no peers.
    if (found == home.end() && workers_.contains(worker) && long_at_work) continue;
    (found == home.end() ? largest : found->second)->push_back(worker);
  }
}

std::vector<SequenceEntry> Learning::SequenceOf(const std::vector<WorkerId>& workers) const {
  // The order that most workers show, with the launch ids of the first of those workers.
  std::map<std::vector<ProgramNumber>, std::pair<int64_t, std::vector<Launch>>> votes;
  for (const WorkerId& worker : workers) {
    auto facts = workers_.find(worker);
    if (facts == workers_.end()) continue;
    std::vector<Launch> step = facts->second.launches.Step(facts->second.completed);
    if (step.empty()) continue;
    std::vector<ProgramNumber> order;
    for (const Launch& launch : step) order.push_back(launch.program);
    auto& [count, launches] = votes[std::move(order)];
    if (count++ == 0) launches = std::move(step);
  }
  const auto most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  std::vector<SequenceEntry> sequence;
  if (most == votes.end()) return sequence;
  for (const Launch& launch : most->second.second) {
    const std::string& fingerprint = fingerprints_[launch.program];
    sequence.push_back(SequenceEntry{
        .module = ModuleOf(fingerprint), .fingerprint = fingerprint, .launch_id = launch.id});
  }
  return sequence;
}

std::vector<Cohort> Learning::Cohorts(const std::vector<WorkerId>& members) const {
  Groups groups = GroupByPrograms(members);
  std::vector<std::vector<WorkerId>> ordered;
  for (auto& [programs, workers] : groups) ordered.push_back(std::move(workers));
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
  });
  std::vector<Cohort> cohorts;
  for (std::vector<WorkerId>& workers : ordered) {
    Cohort cohort;
    cohort.name = ordered.size() == 1 ? "all" : absl::StrCat("cohort-", cohorts.size());
    cohort.sequence = SequenceOf(workers);
    cohort.workers = std::move(workers);
    cohorts.push_back(std::move(cohort));
  }
  return cohorts;
}

void Learning::Forget() {
  numbers_.clear();
  fingerprints_.clear();
  programs_.clear();
  workers_.clear();
  longest_step_ = absl::ZeroDuration();
  longest_step_lines_ = absl::ZeroDuration();
  longest_pause_ = absl::ZeroDuration();
  longest_unannounced_pause_ = absl::ZeroDuration();
  longest_phase_.clear();
}

}  // namespace rapideye::coordinator
