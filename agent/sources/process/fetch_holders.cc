#include "agent/sources/process/fetch_holders.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/fetch_owner.h"
#include "agent/sources/process/limits.h"
#include "agent/sources/process/parse.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

using Processes = std::map<int64_t, ProcessStat>;

// True for the process itself or a descendant, which holds the files that its parent held.
bool ComesFrom(const Processes& processes, int64_t pid, const ProcessId& ancestor) {
  std::set<int64_t> seen;  // the numbers change while one looks
  for (auto it = processes.find(pid); it != processes.end() && seen.insert(it->first).second;
       it = processes.find(it->second.parent)) {
    if (it->second.id == ancestor) return true;
  }
  return false;
}

std::set<std::string> DevicesOf(const std::string& folder, absl::string_view dev_root) {
  std::set<std::string> devices;
  size_t seen = 0;
  file::ForEachEntry(folder, [&](const char* name) {
    std::array<char, 256> link;
    const ssize_t size =
        readlink(absl::StrCat(folder, "/", name).c_str(), link.data(), link.size());
    if (size > 0) {
      auto device = ChipDevice({link.data(), static_cast<size_t>(size)}, dev_root);
      if (device.has_value()) devices.insert(*std::move(device));
    }
    return ++seen < kMaxDescriptorsSearched;
  });
  return devices;
}

}  // namespace

std::vector<ChipHolder> FindChipHolders(const std::string& proc_root, absl::string_view dev_root,
                                        const std::optional<ProcessId>& training) {
  std::vector<ChipHolder> found;
  const auto comes_from_training = [&training](const Processes& processes, int64_t pid) {
    return training.has_value() && ComesFrom(processes, pid, *training);
  };
  const auto give_up =
      std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(kHolderSearchDeadline);
  Processes processes;
  std::map<int64_t, std::set<std::string>> holders;
  file::ForEachEntry(proc_root, [&](const char* name) {
    int64_t pid = 0;
    if (!absl::SimpleAtoi(name, &pid)) return true;
    const std::string folder = absl::StrCat(proc_root, "/", pid);
    const auto line = file::ReadSmallFile(folder + "/stat", kMaxProcFileBytes);
    if (!line.has_value()) return true;
    absl::StatusOr<ProcessStat> stat = ParseProcessStat(*line);
    if (stat.ok() && stat->id.pid == pid) processes.emplace(pid, *std::move(stat));
    std::set<std::string> devices = DevicesOf(folder + "/fd", dev_root);
    if (!devices.empty()) holders.emplace(pid, std::move(devices));
    return std::chrono::steady_clock::now() < give_up;
  });
  std::set<std::string> own;
  for (const auto& [pid, devices] : holders) {
    if (comes_from_training(processes, pid)) own.insert(devices.begin(), devices.end());
  }
  for (const auto& [pid, devices] : holders) {
    const auto stat = processes.find(pid);
    if (stat == processes.end() || comes_from_training(processes, pid)) continue;
    const bool in_the_way =
        own.empty() || std::any_of(devices.begin(), devices.end(),
                                   [&](const std::string& device) { return own.contains(device); });
    if (!in_the_way) continue;
    ChipHolder& holder = found.emplace_back();
    holder.process.pid = pid;
    holder.process.command = stat->second.command;
    holder.process.state = stat->second.state;
    DescribeOwner(proc_root, stat->second.id, holder.process);
    holder.devices.assign(devices.begin(), devices.end());
    if (found.size() >= kMaxChipHolders) break;
  }
  return found;
}

}  // namespace rapideye::agent
