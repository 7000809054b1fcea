#include "agent/sources/start_up/fetch_obstacles.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/fetch_holders.h"
#include "agent/sources/process/fetch_owner.h"
#include "agent/sources/process/limits.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/start_up/limits.h"
#include "agent/sources/start_up/parse.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

std::string LinkTarget(const std::string& path) {
  std::array<char, 256> link;
  const ssize_t size = readlink(path.c_str(), link.data(), link.size());
  return size > 0 ? std::string(link.data(), static_cast<size_t>(size)) : std::string();
}

bool Lives(const std::optional<ProcessSample>& training) {
  return training.has_value() && !training->Ended();
}

// Children of the training process are younger than the process itself, and the other workers of
// its host have started at the same time.
bool MayBeALeftover(const ObstacleSearch& search, const Process& holder) {
  if (!search.training.has_value() || !search.training->age_ms.has_value()) return true;
  return holder.started_ms_ago.value_or(0) > *search.training->age_ms + kSameStartMs;
}

void AddHolders(const ObstacleSearch& search, std::vector<Obstacle>& found) {
  if (search.has_device) return;
  const std::optional<ProcessId> training =
      Lives(search.training) ? std::optional(search.training->id) : std::nullopt;
  for (const ChipHolder& holder : FindChipHolders(search.proc_root, search.dev_root, training)) {
    if (!MayBeALeftover(search, holder.process)) continue;
    for (const std::string& device : holder.devices) {
      Obstacle& obstacle = found.emplace_back();
      obstacle.kind = ObstacleKind::kDeviceHeld;
      obstacle.subject = device;
      obstacle.holder = holder.process;
    }
  }
}

void AddForbidden(const ObstacleSearch& search, std::vector<Obstacle>& found) {
  if (search.has_device || !Lives(search.training)) return;
  const auto status = file::ReadSmallFile(
      absl::StrCat(search.proc_root, "/", search.training->id.pid, "/status"), kMaxProcFileBytes);
  const std::optional<Rights> rights = status.has_value() ? ParseRights(*status) : std::nullopt;
  if (!rights.has_value()) return;
  for (const char* folder : {"", "/vfio"}) {
    file::ForEachEntry(absl::StrCat(search.dev_root, folder), [&](const char* name) {
      const std::string path = absl::StrCat(search.dev_root, folder, "/", name);
      const std::optional<std::string> device = ChipDevice(path, search.dev_root);
      struct stat file = {};
      if (!device.has_value() || stat(path.c_str(), &file) != 0) return true;
      if (MayOpen(*rights, file.st_mode, file.st_uid, file.st_gid)) return true;
      Obstacle& obstacle = found.emplace_back();
      obstacle.kind = ObstacleKind::kDeviceNotPermitted;
      obstacle.subject = *device;
      obstacle.detail =
          absl::StrFormat("its mode is %03o, its owner %d and its group %d; the process runs as %d",
                          file.st_mode & 0777U, file.st_uid, file.st_gid, rights->user);
      return found.size() < kMaxObstacles;
    });
  }
}

void AddUnbound(const ObstacleSearch& search, std::vector<Obstacle>& found) {
  for (const TpuDevice& tpu : search.tpus) {
    const std::string folder = absl::StrCat(search.sys_root, "/bus/pci/devices/", tpu.address);
    if (file::LinkName(folder + "/driver").has_value()) continue;
    Obstacle& obstacle = found.emplace_back();
    obstacle.kind = ObstacleKind::kNoDriver;
    obstacle.subject = tpu.address;
  }
}

// The oldest process that has one of the sockets open; children inherit them.
std::optional<ProcessStat> OwnerOf(const std::string& proc_root, const std::set<uint64_t>& inodes) {
  const auto give_up =
      std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(kPortSearchDeadline);
  std::optional<ProcessStat> owner;
  file::ForEachEntry(proc_root, [&](const char* name) {
    int64_t pid = 0;
    if (!absl::SimpleAtoi(name, &pid)) return true;
    const std::string folder = absl::StrCat(proc_root, "/", pid);
    bool owns = false;
    size_t seen = 0;
    file::ForEachEntry(folder + "/fd", [&](const char* descriptor) {
      const auto inode = SocketInode(LinkTarget(absl::StrCat(folder, "/fd/", descriptor)));
      owns = inode.has_value() && inodes.contains(*inode);
      return !owns && ++seen < kMaxDescriptorsSearched;
    });
    const auto line =
        owns ? file::ReadSmallFile(folder + "/stat", kMaxProcFileBytes) : std::nullopt;
    if (line.has_value()) {
      absl::StatusOr<ProcessStat> stat = ParseProcessStat(*line);
      if (stat.ok() && (!owner || stat->id.start_ticks < owner->id.start_ticks)) owner = *stat;
    }
    return std::chrono::steady_clock::now() < give_up;
  });
  return owner;
}

void AddTakenPorts(const ObstacleSearch& search, std::vector<Obstacle>& found) {
  if (!search.training.has_value()) return;
  for (const uint16_t port : search.ports) {
    std::set<uint64_t> inodes;
    for (const char* table : {"/net/tcp", "/net/tcp6"}) {
      const auto text = file::ReadSmallFile(search.proc_root + table, kMaxConnectionTableBytes);
      if (text.has_value()) inodes.merge(ListeningInodes(*text, {.address = {}, .port = port}));
    }
    if (inodes.empty()) continue;
    const std::optional<ProcessStat> owner = OwnerOf(search.proc_root, inodes);
    if (!owner.has_value() || owner->id == search.training->id) continue;
    Process holder;
    holder.pid = owner->id.pid;
    holder.command = owner->command;
    holder.state = owner->state;
    DescribeOwner(search.proc_root, owner->id, holder);
    // A child of the training process may listen on the port for it.
    if (!MayBeALeftover(search, holder)) continue;
    Obstacle& obstacle = found.emplace_back();
    obstacle.kind = ObstacleKind::kPortTaken;
    obstacle.subject = absl::StrCat(port);
    obstacle.holder = std::move(holder);
  }
}

}  // namespace

std::vector<Obstacle> FindObstacles(const ObstacleSearch& search) {
  std::vector<Obstacle> found;
  AddHolders(search, found);
  AddForbidden(search, found);
  AddUnbound(search, found);
  AddTakenPorts(search, found);
  if (found.size() > kMaxObstacles) found.resize(kMaxObstacles);
  return found;
}

bool HasDeviceOpen(const std::string& proc_root, const std::string& dev_root, int64_t pid) {
  const std::string folder = absl::StrCat(proc_root, "/", pid, "/fd");
  bool open = false;
  size_t seen = 0;
  file::ForEachEntry(folder, [&](const char* name) {
    open = ChipDevice(LinkTarget(absl::StrCat(folder, "/", name)), dev_root).has_value();
    return !open && ++seen < kMaxDescriptorsSearched;
  });
  return open;
}

}  // namespace rapideye::agent
