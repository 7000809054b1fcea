#include "agent/daemon/process_sources.h"

#include <cstdlib>
#include <utility>

#include "agent/sources/process/fetch_holders.h"
#include "agent/sources/process/limits.h"

namespace rapideye::agent {

ProcessSources::ProcessSources(const std::string& proc_root, std::string dev_root, Endpoint runtime,
                               std::optional<int64_t> command, const DisabledSources& disabled)
    : proc_root_(proc_root), dev_root_(std::move(dev_root)), process_(proc_root, runtime, command) {
  if (disabled.contains(Source::kStacks)) return;
  const char* path = std::getenv("PATH");
  stacks_.emplace(FindStackTools(proc_root, path == nullptr ? "/usr/bin:/bin" : path));
}

void ProcessSources::Read(HostLook look, absl::Duration now, HostReading& reading) {
  ReadState(now, reading);
  const std::optional<ProcessSample>& process = reading.process->process;
  const bool lives = process.has_value() && !process->Ended();
  if (look.stacks && lives && stacks_.has_value()) {
    stacks_->Start(*process);
  } else if (look.stacks) {
    reading.stacks.emplace();  // none are to be waited for
  }
  if (stacks_.has_value()) {
    if (auto finished = stacks_->Finished()) reading.stacks = *std::move(finished);
  }
  if (look.hang && now >= next_holder_look_) {
    next_holder_look_ = now + kHolderSpacing;
    reading.chip_holders =
        FindChipHolders(proc_root_, dev_root_, lives ? std::optional(process->id) : std::nullopt);
  }
}

void ProcessSources::ReadState(absl::Duration now, HostReading& reading) {
  // A thread whose stack is taken is stopped for that moment.
  const bool looked_into = stacks_.has_value() && stacks_->busy();
  reading.process = process_.Read(now);
  std::optional<ProcessSample>& process = reading.process->process;
  if (!process.has_value()) return;
  if (looked_into && process->state == ProcessState::kStopped) process->state = last_state_;
  last_state_ = process->state;
}

}  // namespace rapideye::agent
