#include "tests/testbed/worker/mailbox.h"

#include <utility>

namespace rapideye::testbed {

void Mailbox::Deliver(MeshMessage message) {
  {
    const std::lock_guard lock(mutex_);
    messages_[message.address] = std::move(message.data);
  }
  arrived_.notify_all();
}

std::optional<Vector> Mailbox::Await(const MessageAddress& address, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const bool there = arrived_.wait(lock, stop, [&] { return messages_.contains(address); });
  if (!there) return std::nullopt;
  return std::move(messages_.extract(address).mapped());
}

}  // namespace rapideye::testbed
