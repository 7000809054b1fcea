#include "tests/testbed/worker/recovery.h"

#include <utility>

namespace rapideye::testbed {

Recovery::Age Recovery::age() const {
  const std::lock_guard lock(mutex_);
  return age_;
}

bool Recovery::Over(Age age) const {
  const std::lock_guard lock(mutex_);
  return age_ > age;
}

void Recovery::Await(Age age, const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  healed_.wait(lock, stop, [&] { return age_ > age; });
}

void Recovery::OnHeal(std::function<void()> undo) {
  const std::lock_guard lock(mutex_);
  undos_.push_back(std::move(undo));
}

void Recovery::Heal() {
  std::vector<std::function<void()>> undos;
  {
    const std::lock_guard lock(mutex_);
    ++age_;
    undos = std::exchange(undos_, {});
  }
  for (const std::function<void()>& undo : undos) undo();
  healed_.notify_all();
}

}  // namespace rapideye::testbed
