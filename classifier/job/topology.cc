#include "classifier/job/topology.h"

#include <algorithm>
#include <utility>

#include "classifier/job/standby.h"
#include "classifier/verdict/thresholds.h"
#include "proto/common/text/host_name.h"

namespace rapideye::classifier {

Topology::Topology(const Capture& capture) : capture_(&capture) {
  AddWorkers();
  AddPrograms();
  AddCohorts();
  MarkStandby(slices_, !capture.header.cohorts.empty(), workers_);
}

void Topology::AddWorkers() {
  for (const ExpectedWorker& expected : capture_->header.expected_workers) {
    WorkerInfo info;
    info.id = expected.id;
    info.host = expected.host;
    info.node = expected.node;
    workers_.push_back(std::move(info));
  }
  std::sort(workers_.begin(), workers_.end(),
            [](const WorkerInfo& a, const WorkerInfo& b) { return a.id < b.id; });
  index_.reserve(workers_.size());
  for (size_t i = 0; i < workers_.size(); ++i) {
    WorkerInfo& worker = workers_[i];
    index_[worker.id] = static_cast<int>(i);
    if (slices_.empty() || slices_.back().id != worker.id.slice) {
      slices_.push_back({worker.id.slice, static_cast<int>(i), static_cast<int>(i)});
    }
    slices_.back().last = static_cast<int>(i) + 1;
    worker.slice = static_cast<int>(slices_.size()) - 1;
  }
  for (const Snapshot& snapshot : capture_->snapshots) {
    const int index = Find(snapshot.worker);
    if (index < 0) continue;
    WorkerInfo& worker = workers_[static_cast<size_t>(index)];
    worker.snapshot = &snapshot;
    worker.programs.reserve(snapshot.programs.size());
    if (!snapshot.host.empty()) worker.host = snapshot.host;
    if (snapshot.node.has_value()) worker.node = snapshot.node;
  }
}

int Topology::InternProgram(std::string_view fingerprint,
                            const std::optional<std::string>& module) {
  // A program without a fingerprint is told apart by its name.
  std::string made;
  if (fingerprint.empty()) made = "module:" + module.value_or("");
  const absl::string_view key = fingerprint.empty()
                                    ? absl::string_view(made)
                                    : absl::string_view(fingerprint.data(), fingerprint.size());
  auto it = program_index_.find(key);
  if (it == program_index_.end()) {
    it = program_index_.try_emplace(std::string(key), static_cast<int>(programs_.size())).first;
    programs_.push_back({fingerprint, ""});
  }
  ProgramInfo& program = programs_[static_cast<size_t>(it->second)];
  // If two names are reported, the choice must not depend on the order of reports.
  if (module.has_value() && !module->empty() &&
      (program.module.empty() || *module < program.module)) {
    program.module = *module;
  }
  return it->second;
}

void Topology::AddPrograms() {
  for (const Cohort& cohort : capture_->header.cohorts) {
    for (const SequenceEntry& entry : cohort.sequence) {
      InternProgram(entry.fingerprint, entry.module);
    }
  }
  // Nearly all workers have the programs of the worker before.
  const WorkerInfo* before = nullptr;
  for (WorkerInfo& worker : workers_) {
    if (worker.snapshot == nullptr) continue;
    const std::vector<Program>& programs = worker.snapshot->programs;
    for (size_t i = 0; i < programs.size(); ++i) {
      const bool again = before != nullptr && i < before->programs.size() &&
                         before->snapshot->programs[i].fingerprint == programs[i].fingerprint &&
                         before->snapshot->programs[i].module == programs[i].module;
      worker.programs.push_back(again ? before->programs[i]
                                      : InternProgram(programs[i].fingerprint, programs[i].module));
    }
    before = &worker;
  }
  NumberProgramsByName();
}

// Numbers programs by name, so that the order of program tables changes nothing, not even a tie.
void Topology::NumberProgramsByName() {
  std::vector<std::pair<std::string, int>> by_name(program_index_.begin(), program_index_.end());
  std::sort(by_name.begin(), by_name.end());
  std::vector<int> number(programs_.size());
  std::vector<ProgramInfo> sorted;
  sorted.reserve(programs_.size());
  for (const auto& [key, old] : by_name) {
    number[static_cast<size_t>(old)] = static_cast<int>(sorted.size());
    program_index_[key] = static_cast<int>(sorted.size());
    sorted.push_back(programs_[static_cast<size_t>(old)]);
  }
  programs_ = std::move(sorted);
  for (WorkerInfo& worker : workers_) {
    for (int& program : worker.programs) program = number[static_cast<size_t>(program)];
  }
}

void Topology::AddCohorts() {
  const auto& given = capture_->header.cohorts;
  for (const Cohort& cohort : given) {
    CohortInfo info;
    info.name = cohort.name;
    std::vector<Launch> step;
    for (const SequenceEntry& entry : cohort.sequence) {
      step.push_back({InternProgram(entry.fingerprint, entry.module), entry.launch_id});
    }
    info.order = ProgramOrder(step);
    info.order_was_given = !info.order.empty();
    cohorts_.push_back(std::move(info));
  }
  if (given.size() > 1) {
    // Workers that no named cohort lists are compared among themselves.
    const int rest = static_cast<int>(cohorts_.size());
    cohorts_.emplace_back();
    for (WorkerInfo& worker : workers_) worker.cohort = rest;
  } else if (given.empty()) {
    cohorts_.emplace_back();
  }
  if (!given.empty()) {
    for (WorkerInfo& worker : workers_) worker.in_named_cohort = false;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    for (const WorkerId& id : given[i].workers) {
      const int index = Find(id);
      if (index < 0) continue;
      workers_[static_cast<size_t>(index)].cohort = static_cast<int>(i);
      workers_[static_cast<size_t>(index)].in_named_cohort = true;
    }
  }
  for (int i = 0; i < static_cast<int>(cohorts_.size()); ++i) {
    if (cohorts_[static_cast<size_t>(i)].order.empty() || ContradictsQueues(i)) LearnOrder(i);
  }
}

// The core with the longest chain of a worker, or null: all its cores are given the same
// launches, and a worker has one vote.
static const Core* LongestQueue(const Topology& topology, int worker) {
  const Core* longest = nullptr;
  // Orders two chains of equal length. Runs for every core of a job, and so copies nothing.
  const auto is_before = [&](const Core& core, const Core& other) {
    const auto same = [](const QueuedProgram& a, const QueuedProgram& b) {
      return a.program == b.program && a.launch_id == b.launch_id;
    };
    if (core.program == other.program && core.launch_id == other.launch_id &&
        std::equal(core.queued.begin(), core.queued.end(), other.queued.begin(), other.queued.end(),
                   same)) {
      return false;  // as nearly always
    }
    for (size_t i = 0; i <= core.queued.size(); ++i) {
      const Launch a = topology.LaunchAt(worker, core, i);
      const Launch b = topology.LaunchAt(worker, other, i);
      if (a.program != b.program) return a.program < b.program;
      if (a.id != b.id) return a.id < b.id;
    }
    return false;
  };
  for (const Core& core : topology.worker(worker).snapshot->cores) {
    if (core.type != CoreType::kTensorCore) continue;
    const size_t length = core.queued.size();
    if (longest == nullptr || length > longest->queued.size() ||
        (length == longest->queued.size() && is_before(core, *longest))) {
      longest = &core;
    }
  }
  return longest;
}

static std::vector<Launch> LongestChain(const Topology& topology, int worker) {
  const Core* longest = LongestQueue(topology, worker);
  return longest == nullptr ? std::vector<Launch>() : topology.Chain(worker, *longest);
}

bool Topology::ContradictsQueues(int cohort) const {
  const ProgramOrder& order = cohorts_[static_cast<size_t>(cohort)].order;
  int agree = 0;
  int contradict = 0;
  int seen = 0;
  int at_odds = 0;  // workers with launches against it
  // The chain looked at last, and what it shows: nearly all workers have one chain.
  std::vector<Launch> last;
  int of_last_agree = 0;
  int of_last_contradict = 0;
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    if (worker(i).cohort != cohort || worker(i).snapshot == nullptr) continue;
    ++seen;
    const Core* longest = LongestQueue(*this, i);
    if (longest == nullptr ? !last.empty() : !IsChain(i, *longest, last)) {
      const std::vector<Launch> chain = LongestChain(*this, i);
      of_last_agree = 0;
      of_last_contradict = 0;
      for (size_t j = 0; j + 1 < chain.size(); ++j) {
        const auto now = order.Ordinal(chain[j]);
        const auto next = order.Ordinal(chain[j + 1]);
        if (!now || !next) continue;
        ++(*now < *next ? of_last_agree : of_last_contradict);
      }
      last = chain;
    }
    agree += of_last_agree;
    contradict += of_last_contradict;
    at_odds += of_last_contradict > 0 ? 1 : 0;
  }
  // A few workers that run ahead may be the only ones with queued launches: then these are at odds
  // with the order, and the order is not stale.
  return contradict > agree && at_odds > kFewShare * seen;
}

void Topology::LearnOrder(int cohort) {
  std::vector<std::vector<Launch>> chains;
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    if (worker(i).cohort != cohort || worker(i).snapshot == nullptr) continue;
    chains.push_back(LongestChain(*this, i));
  }
  CohortInfo& info = cohorts_[static_cast<size_t>(cohort)];
  info.order = LearnProgramOrder(chains);
  info.order_was_given = false;
}

int Topology::Find(WorkerId id) const {
  auto it = index_.find(id);
  return it == index_.end() ? -1 : it->second;
}

std::vector<int> Topology::FindHost(std::string_view host) const {
  std::vector<int> found;
  if (host.empty()) return found;
  for (const auto is : {text::AreOneHost, text::ArePodAndHost}) {
    for (size_t i = 0; i < workers_.size(); ++i) {
      if (!workers_[i].host.empty() && is(workers_[i].host, host)) {
        found.push_back(static_cast<int>(i));
      }
    }
    if (!found.empty()) break;
  }
  return found;
}

int Topology::ProgramOf(int worker_index, const Core& core) const {
  const WorkerInfo& info = worker(worker_index);
  if (!core.program.has_value()) return -1;
  return info.programs[static_cast<size_t>(*core.program)];
}

std::vector<Launch> Topology::Chain(int worker_index, const Core& core) const {
  std::vector<Launch> chain;
  chain.reserve(core.queued.size() + 1);
  for (size_t at = 0; at <= core.queued.size(); ++at) {
    chain.push_back(LaunchAt(worker_index, core, at));
  }
  return chain;
}

bool Topology::IsChain(int worker_index, const Core& core, const std::vector<Launch>& chain) const {
  if (chain.size() != core.queued.size() + 1) return false;
  for (size_t at = 0; at < chain.size(); ++at) {
    if (LaunchAt(worker_index, core, at) != chain[at]) return false;
  }
  return true;
}

Launch Topology::LaunchAt(int worker_index, const Core& core, size_t at) const {
  if (at == 0) return {ProgramOf(worker_index, core), core.launch_id};
  const QueuedProgram& queued = core.queued[at - 1];
  return {worker(worker_index).programs[static_cast<size_t>(queued.program)], queued.launch_id};
}

}  // namespace rapideye::classifier
