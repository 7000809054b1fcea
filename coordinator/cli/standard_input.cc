#include "coordinator/cli/standard_input.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "coordinator/cli/log_files.h"
#include "proto/wire/limits.h"

namespace rapideye::cli {
namespace {

constexpr int64_t kCopyBytes = 256 * 1024;

absl::Status WriteAll(int file, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = write(file, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return absl::InternalError(
          absl::StrCat("cannot write a temporary file: ", std::strerror(errno)));
    }
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status StandardInput::Copy() {
  file_.reset(std::tmpfile());
  if (file_ == nullptr) {
    return absl::InternalError(
        absl::StrCat("cannot make a temporary file: ", std::strerror(errno)));
  }
  path_ = absl::StrCat("/proc/self/fd/", fileno(file_.get()));
  if (absl::Status status = CopyUpTo(kHeadBytes); !status.ok()) return status;
  const FileContent content = ContentOf(path_);
  const bool log = content == FileContent::kLog || content == FileContent::kExport ||
                   content == FileContent::kTable;
  return CopyUpTo(log ? std::numeric_limits<int64_t>::max()
                      : static_cast<int64_t>(wire::kMaxCaptureBytes) + 1);
}

// `bytes`: of the whole copy.
absl::Status StandardInput::CopyUpTo(int64_t bytes) {
  std::string buffer(kCopyBytes, '\0');
  while (!at_end_ && copied_ < bytes) {
    const auto wanted = static_cast<size_t>(std::min(kCopyBytes, bytes - copied_));
    const ssize_t n = read(STDIN_FILENO, buffer.data(), wanted);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::InvalidArgumentError(std::strerror(errno));
    at_end_ = n == 0;
    copied_ += n;
    absl::Status status = WriteAll(fileno(file_.get()), buffer.data(), static_cast<size_t>(n));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace rapideye::cli
