#include "agent/core/program_book.h"

#include <algorithm>
#include <utility>

#include "agent/core/limits.h"

namespace rapideye::agent {

void ModuleNames::Learn(const RuntimeSample& sample) {
  for (const CoreSample& core : sample.cores) {
    if (!core.fingerprint.has_value()) continue;
    for (const SequencerSample& sequencer : core.sequencers) {
      if (!sequencer.module.has_value()) continue;
      std::erase_if(entries_,
                    [&](const Entry& entry) { return entry.fingerprint == *core.fingerprint; });
      if (entries_.size() == kMaxModules) entries_.erase(entries_.begin());
      entries_.push_back({*core.fingerprint, *sequencer.module});
      break;
    }
  }
}

void ModuleNames::Learn(const std::vector<DumpedProgram>& dumps) {
  for (const DumpedProgram& dump : dumps) {
    if (entries_.size() >= kMaxModules || Find(dump.fingerprint).has_value()) continue;
    entries_.insert(entries_.begin(), {dump.fingerprint, dump.module});
  }
}

std::optional<std::string> ModuleNames::Find(const std::string& fingerprint) const {
  for (const Entry& entry : entries_) {
    if (entry.fingerprint == fingerprint) return entry.module;
  }
  return std::nullopt;
}

void ProgramBook::Record(const Completion& completion) {
  // The runtime gives no fingerprint: the program cannot be compared with others.
  if (completion.fingerprint.empty()) return;
  auto it = std::find_if(programs_.begin(), programs_.end(), [&](const Program& program) {
    return program.fingerprint == completion.fingerprint;
  });
  if (it == programs_.end()) {
    if (programs_.size() == kMaxPrograms) programs_.erase(programs_.begin());
    it = programs_.insert(programs_.end(), {completion.fingerprint, 0, std::nullopt});
  }
  it->completed = std::max(it->completed, completion.total);
  if (completion.longest.has_value()) {
    it->longest = std::max(it->longest.value_or(absl::ZeroDuration()), *completion.longest);
  }
  std::rotate(it, it + 1, programs_.end());
}

std::optional<absl::Duration> ProgramBook::LongestLaunch() const {
  std::optional<absl::Duration> longest;
  for (const Program& program : programs_) longest = std::max(longest, program.longest);
  return longest;
}

std::vector<wire::ProgramStatistics> ProgramBook::Statistics(const ModuleNames& modules) const {
  std::vector<wire::ProgramStatistics> statistics;
  const size_t count = std::min(programs_.size(), kMaxHeartbeatPrograms);
  for (auto it = programs_.end() - static_cast<ptrdiff_t>(count); it != programs_.end(); ++it) {
    statistics.push_back(
        {modules.Find(it->fingerprint), it->fingerprint, it->completed, it->longest});
  }
  return statistics;
}

}  // namespace rapideye::agent
