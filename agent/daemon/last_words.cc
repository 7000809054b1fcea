#include "agent/daemon/last_words.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <variant>

namespace rapideye::agent {

LastWords::LastWords() : done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

LastWords::~LastWords() { close(done_); }

void LastWords::Note(const Effect& effect) {
  const auto* send = std::get_if<Send>(&effect);
  if (send != nullptr && std::holds_alternative<wire::Alarm>(send->message)) awaited_ = true;
}

void LastWords::Note(const Event& event) {
  if (const auto* sampled = std::get_if<HostSampled>(&event)) {
    const std::optional<ProcessReading>& process = sampled->reading.Of<ProcessReading>();
    if (process.has_value() && process->process.has_value()) ended_ = process->process->Ended();
  } else if (const auto* received = std::get_if<MessageReceived>(&event)) {
    if (std::holds_alternative<wire::Concluded>(received->message)) awaited_ = false;
  } else if (std::holds_alternative<StreamClosed>(event)) {
    awaited_ = false;  // what was not told is left on disk
  }
  if (ended_ && !awaited_) eventfd_write(done_, 1);
}

}  // namespace rapideye::agent
