#include "agent/sources/log/fetch_changes.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rapideye::agent {
namespace {

constexpr uint32_t kGrown = IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF;
constexpr uint32_t kCome = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR;

}  // namespace

FileChanges::FileChanges() : descriptor_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

FileChanges::~FileChanges() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool FileChanges::HasNews() const {
  pollfd waiting = {descriptor_, POLLIN, 0};
  return descriptor_ >= 0 && poll(&waiting, 1, 0) == 1;
}

FileChanges::News FileChanges::Take() const {
  News news;
  if (descriptor_ < 0) return news;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  while (true) {
    const ssize_t n = read(descriptor_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return news;
    news.any = true;
    for (size_t at = 0; at + sizeof(inotify_event) <= static_cast<size_t>(n);) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      // Events for which the kernel had no room may be of any kind, new names included.
      if ((event.mask & (IN_CREATE | IN_MOVED_TO | IN_Q_OVERFLOW)) != 0) news.names = true;
      at += sizeof(event) + event.len;
    }
  }
}

int FileChanges::WatchFile(const std::string& path) const {
  return descriptor_ < 0 ? -1 : inotify_add_watch(descriptor_, path.c_str(), kGrown);
}

void FileChanges::WatchDirectory(const std::string& path) const {
  if (descriptor_ >= 0) inotify_add_watch(descriptor_, path.c_str(), kCome);
}

void FileChanges::Forget(int watch) const {
  if (watch >= 0) inotify_rm_watch(descriptor_, watch);
}

}  // namespace rapideye::agent
