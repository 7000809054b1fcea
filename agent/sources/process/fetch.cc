#include "agent/sources/process/fetch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/fetch_candidates.h"
#include "agent/sources/process/fetch_holders.h"
#include "agent/sources/process/fetch_log_writer.h"
#include "agent/sources/process/fetch_owner.h"
#include "agent/sources/process/fetch_tree.h"
#include "agent/sources/process/limits.h"
#include "agent/sources/tcp/fetch.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

std::optional<uint64_t> InodeBehind(const std::string& path) {
  std::array<char, 64> link;
  const ssize_t size = readlink(path.c_str(), link.data(), link.size());
  if (size <= 0) return std::nullopt;
  return SocketInode(absl::string_view(link.data(), static_cast<size_t>(size)));
}

bool IsReadable(int descriptor) {
  pollfd poll_descriptor = {descriptor, POLLIN, 0};
  return poll(&poll_descriptor, 1, 0) == 1;
}

// sock_diag lists the sockets of this /proc's processes.
constexpr char kThisNamespace[] = "/proc";

}  // namespace

ProcessWatch::ProcessWatch(std::string proc_root, Endpoint runtime, std::optional<int64_t> command,
                           std::string sys_root, std::vector<std::string> logs,
                           std::string dev_root)
    : proc_root_(std::move(proc_root)),
      runtime_(runtime),
      command_(command),
      ticks_per_second_(std::max<int64_t>(1, sysconf(_SC_CLK_TCK))),
      logs_(std::move(logs)),
      dev_root_(std::move(dev_root)),
      oom_(proc_root_, std::move(sys_root)) {}

ProcessWatch::~ProcessWatch() {
  CloseDescriptor(pidfd_);
  CloseDescriptor(command_pidfd_);
}

ProcessReading ProcessWatch::Read(absl::Duration now) {
  Follow();
  FollowCommand();
  // The command that the agent has started counts as the process until a process listens.
  const bool settled = process_.has_value() && !process_->Ended() && !listeners_.empty();
  if (settled && now < next_listener_look_) return {process_, unavailable_};
  next_listener_look_ = now + kListenerSpacing;
  const std::set<uint64_t> listening = FindListeners();
  const bool known = std::any_of(listening.begin(), listening.end(),
                                 [this](uint64_t inode) { return listeners_.contains(inode); });
  if (listening.empty() || known) {
    unavailable_.clear();
    SearchByLog(now);
    SearchBelowCommand(now);
  } else if (now >= next_search_) {
    unavailable_ = Search(listening);
    next_search_ = unavailable_.empty() ? now : now + kProcessSearchSpacing;
  }
  ProcessReading reading = {process_, unavailable_};
  reading.end_awaited = AwaitsCommand();
  return reading;
}

std::optional<std::set<uint64_t>> ProcessWatch::SocketInodes() const {
  if (!process_.has_value() || process_->Ended()) return std::nullopt;
  const std::string folder = PathOf(process_->id.pid, "fd");
  std::set<uint64_t> inodes;
  size_t seen = 0;
  const int error = file::ForEachEntry(folder, [&](const char* name) {
    if (const auto inode = InodeBehind(absl::StrCat(folder, "/", name))) inodes.insert(*inode);
    return ++seen < kMaxDescriptorsSearched;
  });
  if (error != 0) return std::nullopt;
  return inodes;
}

std::string ProcessWatch::PathOf(int64_t pid, absl::string_view file) const {
  return absl::StrCat(proc_root_, "/", pid, "/", file);
}

std::optional<ProcessStat> ProcessWatch::ReadStat(int64_t pid) const {
  const std::optional<std::string> line =
      file::ReadSmallFile(PathOf(pid, "stat"), kMaxProcFileBytes);
  if (!line.has_value()) return std::nullopt;
  const absl::StatusOr<ProcessStat> stat = ParseProcessStat(*line);
  if (!stat.ok() || stat->id.pid != pid) return std::nullopt;
  return *stat;
}

std::set<uint64_t> ProcessWatch::FindListeners() const {
  std::set<uint64_t> inodes;
  if (proc_root_ == kThisNamespace) {
    const auto listeners = ListTcpListeners(kListenerDeadline);
    if (listeners.ok()) {
      for (const TcpConnection& one : *listeners) {
        if (Serves(one.local, one.local_port, runtime_)) inodes.insert(one.inode);
      }
      return inodes;
    }
  }
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    const auto text = file::ReadSmallFile(absl::StrCat(proc_root_, table), kMaxSocketTableBytes);
    if (text.has_value()) inodes.merge(ListeningInodes(*text, runtime_));
  }
  return inodes;
}

// Reads the state of the known process: what it does now, or that it has ended.
void ProcessWatch::Follow() {
  if (!process_.has_value() || process_->state == ProcessState::kExited) return;
  const std::optional<ProcessStat> stat = ReadStat(process_->id.pid);
  if (!stat.has_value() || stat->id != process_->id || stat->state == ProcessState::kExited) {
    SetEnded(ProcessState::kExited, std::nullopt);
    return;
  }
  process_->cpu_ms = stat->cpu_ticks * 1000 / ticks_per_second_;
  process_->age_ms = AgeMs(stat->id);
  const bool seen_to_end = pidfd_ >= 0 && IsReadable(pidfd_);
  if (stat->state == ProcessState::kZombie || seen_to_end) {
    // A process whose first thread ended before the others looks the same.
    if (pidfd_ >= 0 && !seen_to_end) return;
    // A script may expect its programs to fail: the command's own status tells.
    const bool tells = permitted_ && !below_command_;
    SetEnded(ProcessState::kZombie,
             tells ? std::optional<int32_t>(stat->exit_status) : std::nullopt);
    return;
  }
  oom_.Lives(process_->id.pid);
  permitted_ = stat->permitted;
  process_->command = stat->command;
  process_->state = stat->state;
  process_->wait_channel.reset();
  if (stat->state == ProcessState::kRunning) return;
  const auto channel = file::ReadSmallFile(PathOf(process_->id.pid, "wchan"), kMaxNameBytes);
  // The kernel writes "0" where it does not tell the wait channel.
  if (channel.has_value() && *channel != "0") {
    process_->wait_channel = std::string(absl::StripAsciiWhitespace(*channel));
  }
}

// The exit status of the command stays visible: its parent has not reaped it yet. The exit status
// of a process that the command started goes to the command, which usually exits with the same.
void ProcessWatch::FollowCommand() {
  if (!command_.has_value()) return;
  const bool told =
      process_.has_value() &&
      (!process_->Ended() || process_->exit_code.has_value() || process_->signal.has_value());
  if (told) return;
  const std::optional<ProcessStat> stat = ReadStat(*command_);
  if (!stat.has_value()) return;
  if (!process_.has_value()) {
    Adopt(*stat);
    command_permitted_ = stat->permitted;
  }
  // Without permission the kernel shows an exit status of 0.
  const bool known = stat->exit_status != 0 || command_permitted_;
  if (process_->Ended() && stat->state == ProcessState::kZombie && known) {
    SetExit(stat->exit_status, *process_);
  }
}

bool ProcessWatch::AwaitsCommand() {
  const bool below = command_.has_value() && process_.has_value() && process_->id.pid != *command_;
  const bool untold = below && process_->Ended() && !process_->exit_code.has_value() &&
                      !process_->signal.has_value();
  const std::optional<ProcessStat> stat = untold ? ReadStat(*command_) : std::nullopt;
  const bool lives = stat.has_value() && stat->state != ProcessState::kZombie &&
                     stat->state != ProcessState::kExited;
  if (!lives) {
    CloseDescriptor(command_pidfd_);
  } else if (command_pidfd_ < 0 && proc_root_ == kThisNamespace) {
    command_pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, *command_, 0));
  }
  return lives;
}

void ProcessWatch::SetEnded(ProcessState state, std::optional<int32_t> exit_status) {
  process_->state = state;
  process_->wait_channel.reset();
  if (exit_status.has_value()) SetExit(*exit_status, *process_);
  process_->out_of_memory = oom_.KilledSince();
  CloseDescriptor(pidfd_);
}

void ProcessWatch::SearchByLog(absl::Duration now) {
  const bool ended = process_.has_value() && process_->Ended();
  if (!ended) {
    ended_seen_.reset();
  } else if (!ended_seen_.has_value()) {
    ended_seen_ = now;
  }
  if (logs_.empty() || command_.has_value() || (process_.has_value() && !ended)) return;
  if (now < next_log_search_) return;
  next_log_search_ = now + kLogWriterSpacing;
  std::vector<Candidate> writers = FindLogWriters(proc_root_, dev_root_, logs_);
  // Children that outlive a process are not the next training process.
  std::erase_if(writers, [&](const Candidate& writer) {
    const std::optional<int64_t> age = AgeMs(writer.stat.id);
    const bool older =
        !age.has_value() || absl::Milliseconds(*age) > now - ended_seen_.value_or(now);
    return ended && older;
  });
  const std::optional<ProcessStat> stat = ChooseTraining(writers);
  if (!stat.has_value()) return;
  Adopt(*stat);
  listeners_.clear();
}

void ProcessWatch::SearchBelowCommand(absl::Duration now) {
  if (!command_.has_value() || !process_.has_value() || now < next_command_search_) return;
  const bool is_command = process_->id.pid == *command_;
  if (is_command == process_->Ended() || !(is_command || below_command_)) return;
  next_command_search_ = now + command_search_spacing_;
  std::vector<Candidate> candidates = FindStarted(proc_root_, dev_root_, *command_);
  std::erase_if(candidates, [&](const Candidate& one) {
    return one.stat.id.start_ticks < process_->id.start_ticks || one.stat.id == process_->id;
  });
  const bool may_train =
      is_command && process_->cpu_ms >= 1000 * kLeastWorkSeconds && !IsLauncher(process_->command);
  if (may_train) {
    const bool more = candidates.size() > most_candidates_;
    command_search_spacing_ =
        more ? kStartedSpacing : std::min(2 * command_search_spacing_, kMostStartedSpacing);
    most_candidates_ = std::max(most_candidates_, candidates.size());
    const std::optional<ProcessStat> stat = ReadStat(*command_);
    if (candidates.empty() || !stat.has_value()) return;
    candidates.push_back(LookAtCandidate(proc_root_, dev_root_, *stat));
  }
  const std::optional<ProcessStat> stat = ChooseTraining(candidates);
  if (!stat.has_value() || stat->id == process_->id) return;
  Adopt(*stat);
  below_command_ = true;
  command_search_spacing_ = kStartedSpacing;
}

std::string ProcessWatch::Search(const std::set<uint64_t>& inodes) {
  const auto give_up =
      std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(kProcessSearchDeadline);
  bool refused = false;
  bool out_of_time = false;
  std::optional<ProcessStat> found;
  std::set<uint64_t> found_with;
  file::ForEachEntry(proc_root_, [&](const char* name) {
    int64_t pid = 0;
    if (!absl::SimpleAtoi(name, &pid)) return true;
    out_of_time = std::chrono::steady_clock::now() >= give_up;
    if (out_of_time) return false;
    const std::string folder = PathOf(pid, "fd");
    std::set<uint64_t> owned;
    size_t seen = 0;
    const int error = file::ForEachEntry(folder, [&](const char* descriptor) {
      const auto inode = InodeBehind(absl::StrCat(folder, "/", descriptor));
      if (inode.has_value() && inodes.contains(*inode)) owned.insert(*inode);
      return ++seen < kMaxDescriptorsSearched;
    });
    refused |= error == EACCES || error == EPERM;
    if (owned.empty()) return true;
    const std::optional<ProcessStat> stat = ReadStat(pid);
    // Children inherit the socket; the oldest process of the family made it.
    if (stat.has_value() && (!found || stat->id.start_ticks < found->id.start_ticks)) {
      found = stat;
      found_with = owned;
    }
    return true;
  });
  if (found.has_value()) {
    Adopt(*found);
    below_command_ = false;
    listeners_ = std::move(found_with);
    return "";
  }
  const std::string what = absl::StrCat("the process that listens on port ", runtime_.port);
  if (out_of_time) return absl::StrCat(what, " was not found in time");
  if (refused) {
    return absl::StrCat(what, " belongs to another user: run the agent as that user, or as root");
  }
  return absl::StrCat(what,
                      " cannot be seen from here: let the agent share its process namespace "
                      "(shareProcessNamespace on Kubernetes), or give --proc-root");
}

void ProcessWatch::Adopt(const ProcessStat& stat) {
  CloseDescriptor(pidfd_);
  // This kernel interface knows only the process numbers of this /proc.
  if (proc_root_ == "/proc") {
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, stat.id.pid, 0));
  }
  process_ = ProcessSample{};
  process_->id = stat.id;
  process_->command = stat.command;
  process_->state = stat.state;
  permitted_ = stat.permitted;
  // Another process may have taken the number before the pidfd was opened.
  Follow();
}

void ProcessWatch::CloseDescriptor(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

namespace {

class ProcessFetcher final : public Fetcher<ProcessReading> {
 public:
  ProcessFetcher(const HostOptions& options, const Endpoint& runtime)
      : proc_root_(options.proc_root),
        dev_root_(options.dev_root),
        watch_(options.proc_root, runtime, options.command, options.sys_root, options.logs,
               options.dev_root),
        tree_(options.proc_root) {}

  ProcessWatch& watch() { return watch_; }

  std::optional<ProcessReading> Fetch(const HostLook& look, absl::Duration now,
                                      HostFindings& found) override {
    // Asked before the reading: a thread that is stopped for its stack may run again at any moment.
    const bool held_up = found.process_held_up && found.process_held_up();
    ProcessReading reading = watch_.Read(now);
    if (std::optional<ProcessSample>& process = reading.process; process.has_value()) {
      if (held_up && process->state == ProcessState::kStopped) process->state = last_state_;
      last_state_ = process->state;
    }
    if (look.hang && now >= next_holder_look_) {
      next_holder_look_ = now + kHolderSpacing;
      const bool lives = reading.process.has_value() && !reading.process->Ended();
      // Without a known training process its own holds cannot be told from those of others.
      reading.chip_holders.emplace();
      if (lives) reading.chip_holders = FindChipHolders(proc_root_, dev_root_, reading.process->id);
    }
    if (reading.process.has_value() && !reading.process->Ended()) {
      reading.work = tree_.Read(reading.process->id, now);
    }
    found.process = reading.process;
    return reading;
  }

 private:
  const std::string proc_root_;
  const std::string dev_root_;
  ProcessWatch watch_;
  ProcessTree tree_;
  ProcessState last_state_ = ProcessState::kUnspecified;
  absl::Duration next_holder_look_ = -absl::InfiniteDuration();
};

}  // namespace

std::unique_ptr<Fetcher<ProcessReading>> ProcessSource::MakeFetcher(const HostOptions& options,
                                                                    HostFindings& found) {
  const std::optional<Endpoint> runtime = ParseEndpoint(options.runtime);
  if (!runtime.has_value()) return nullptr;
  auto fetcher = std::make_unique<ProcessFetcher>(options, *runtime);
  found.socket_inodes = [&watch = fetcher->watch()] { return watch.SocketInodes(); };
  found.exit_descriptor = [&watch = fetcher->watch()] { return watch.exit_descriptor(); };
  return fetcher;
}

}  // namespace rapideye::agent
