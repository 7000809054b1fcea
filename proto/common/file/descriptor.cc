#include "proto/common/file/descriptor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace rapideye::file {

int ReadUpTo(int descriptor, size_t limit, std::string& bytes) {
  constexpr size_t kChunk = size_t{16} * 1024;
  size_t done = bytes.size();
  const size_t end = done + limit;
  while (done < end) {
    bytes.resize(std::min(end, done + std::max(kChunk, done)));
    const ssize_t got = read(descriptor, bytes.data() + done, bytes.size() - done);
    const int error = got < 0 ? errno : 0;
    if (error == EINTR) continue;
    if (got > 0) done += static_cast<size_t>(got);
    bytes.resize(done);
    if (got <= 0) return error;
  }
  return 0;
}

int WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace rapideye::file
