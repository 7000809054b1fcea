#include "agent/sources/process/fetch_candidates.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/fetch_tree.h"
#include "agent/sources/process/limits.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

// Programs that start another one and wait for it.
constexpr auto kLaunchers = std::to_array<absl::string_view>(
    {"accelerate",  "apptainer", "bash",     "catatonit", "conda",   "dash",    "deepspeed",
     "docker-init", "dumb-init", "env",      "fish",      "ksh",     "make",    "mamba",
     "micromamba",  "mpiexec",   "mpirun",   "nice",      "nohup",   "orterun", "pixi",
     "poetry",      "prterun",   "runuser",  "script",    "setsid",  "sh",      "singularity",
     "srun",        "stdbuf",    "su",       "sudo",      "systemd", "tee",     "time",
     "timeout",     "tini",      "torchrun", "uv",        "zsh"});
// A trainer has tens of threads more than a launcher that has only started it.
constexpr int64_t kFarMoreThreads = 4;

template <typename Keep>
void KeepIfAny(std::vector<Candidate>& candidates, Keep keep) {
  if (std::any_of(candidates.begin(), candidates.end(), keep)) {
    std::erase_if(candidates, [&](const Candidate& candidate) { return !keep(candidate); });
  }
}

// Its child that does the work, if it only waits for it.
const Candidate* Worker(const std::vector<Candidate>& candidates, const Candidate& parent) {
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates) {
    const bool works = one.stat.parent == parent.stat.id.pid &&
                       one.threads >= kFarMoreThreads * std::max<int64_t>(1, parent.threads) &&
                       one.stat.cpu_ticks > parent.stat.cpu_ticks;
    if (works && (best == nullptr || one.stat.cpu_ticks > best->stat.cpu_ticks)) best = &one;
  }
  return best;
}

bool HasChips(const std::string& folder, const std::string& dev_root) {
  bool found = false;
  size_t seen = 0;
  file::ForEachEntry(folder + "/fd", [&](const char* name) {
    std::array<char, 256> link;
    const ssize_t size =
        readlink(absl::StrCat(folder, "/fd/", name).c_str(), link.data(), link.size());
    if (size > 0) {
      const absl::string_view target(link.data(), static_cast<size_t>(size));
      found = ChipDevice(target, dev_root).has_value() ||
              absl::StartsWith(target, absl::StrCat(dev_root, "/nvidia"));
    }
    return !found && ++seen < kMaxDescriptorsSearched;
  });
  return found;
}

std::optional<ProcessStat> ReadStat(const std::string& folder) {
  const auto line = file::ReadSmallFile(absl::StrCat(folder, "/stat"), kMaxProcFileBytes);
  const absl::StatusOr<ProcessStat> stat = ParseProcessStat(line.value_or(""));
  if (!stat.ok()) return std::nullopt;
  return *stat;
}

// A library that is only imported starts a pool with a thread for each processor of the host
// (OpenBLAS): those never run.
int64_t ThreadsThatWorked(const std::string& folder) {
  int64_t threads = 0;
  size_t seen = 0;
  file::ForEachEntry(absl::StrCat(folder, "/task"), [&](const char* name) {
    const std::optional<ProcessStat> stat = ReadStat(absl::StrCat(folder, "/task/", name));
    threads += stat.has_value() && stat->cpu_ticks > 0 ? 1 : 0;
    return ++seen < kMaxTreeThreads;
  });
  return threads;
}

}  // namespace

bool IsLauncher(absl::string_view command) {
  return absl::EndsWith(command, ".sh") ||
         std::find(kLaunchers.begin(), kLaunchers.end(), command) != kLaunchers.end();
}

Candidate LookAtCandidate(const std::string& proc_root, const std::string& dev_root,
                          const ProcessStat& stat) {
  const std::string folder = absl::StrCat(proc_root, "/", stat.id.pid);
  return {stat, ThreadsThatWorked(folder), HasChips(folder, dev_root)};
}

std::optional<ProcessStat> ChooseTraining(const std::vector<Candidate>& candidates) {
  std::vector<Candidate> left = candidates;
  KeepIfAny(left, [](const Candidate& candidate) { return candidate.has_chips; });
  KeepIfAny(left, [](const Candidate& candidate) { return !IsLauncher(candidate.stat.command); });
  const auto has_parent = [&](const Candidate& candidate) {
    return std::any_of(left.begin(), left.end(), [&](const Candidate& other) {
      return other.stat.id.pid == candidate.stat.parent &&
             other.stat.id.pid != candidate.stat.id.pid;
    });
  };
  const Candidate* best = nullptr;
  for (const Candidate& root : left) {
    if (has_parent(root)) continue;
    const Candidate* one = &root;
    std::set<int64_t> seen;
    while (seen.insert(one->stat.id.pid).second) {
      const Candidate* worker = Worker(left, *one);
      if (worker == nullptr) break;
      one = worker;
    }
    if (best == nullptr || one->stat.cpu_ticks > best->stat.cpu_ticks) best = one;
  }
  if (best == nullptr) return std::nullopt;
  return best->stat;
}

std::vector<Candidate> FindStarted(const std::string& proc_root, const std::string& dev_root,
                                   int64_t pid) {
  static const int64_t kWork = std::max<int64_t>(1, sysconf(_SC_CLK_TCK)) * kLeastWorkSeconds;
  std::vector<Candidate> started;
  // Of a process that is left out, what stands in its place as a parent. Parents are listed first.
  std::map<int64_t, int64_t> stands_for;
  for (const int64_t child : ProcessesBelow(proc_root, pid)) {
    std::optional<ProcessStat> stat = ReadStat(absl::StrCat(proc_root, "/", child));
    if (!stat.has_value()) continue;
    const auto parent = stands_for.find(stat->parent);
    if (parent != stands_for.end()) stat->parent = parent->second;
    const bool works = stat->state != ProcessState::kZombie && stat->cpu_ticks >= kWork;
    if (!works || IsLauncher(stat->command)) {
      stands_for[child] = stat->parent;
    } else {
      started.push_back(LookAtCandidate(proc_root, dev_root, *stat));
    }
  }
  return started;
}

}  // namespace rapideye::agent
