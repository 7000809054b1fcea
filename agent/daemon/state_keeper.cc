#include "agent/daemon/state_keeper.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "agent/core/limits.h"
#include "proto/common/worker/thread.h"

namespace rapideye::agent {

// State that only the thread uses.
struct StateKeeper::Writer {
  const StateFile file;
  bool failed = false;

  void Write(const SavedState& state) {
    const absl::Status status = file.Save(state);
    if (!status.ok() && !std::exchange(failed, true)) {
      spdlog::warn(
          "nothing can be left for the next agent, which may cost evidence of a hang when this "
          "one is replaced: {}; check --state-dir",
          std::string(status.message()));
    }
    if (status.ok() && std::exchange(failed, false)) spdlog::info("--state-dir works again");
  }
};

StateKeeper::StateKeeper(StateFile file)
    : writer_(std::make_shared<Writer>(Writer{std::move(file)})) {}

StateKeeper::~StateKeeper() {
  if (worker_.Stop(kStatePatience)) return;
  spdlog::warn("--state-dir hangs; nothing is left for the next agent");
}

std::optional<SavedState> StateKeeper::Load(const StateFile& file) {
  auto state = WithPatience([file] { return file.Load(); }, kStatePatience);
  if (!state.has_value()) {
    spdlog::warn("{} does not answer; starting without what the last agent may have left",
                 file.path());
    return std::nullopt;
  }
  if (state->ok()) return **std::move(state);
  spdlog::warn("{} is not used: {}", file.path(), std::string(state->status().message()));
  return std::nullopt;
}

void StateKeeper::Keep(SavedState state) {
  worker_.PostLatest([writer = writer_, state = std::move(state)] { writer->Write(state); });
}

}  // namespace rapideye::agent
