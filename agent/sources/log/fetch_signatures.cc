#include "agent/sources/log/fetch_signatures.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/logs/limits.h"
#include "proto/common/file/descriptor.h"

namespace rapideye::agent {

absl::StatusOr<logs::SignatureTable> ReadSignatureTable(const std::string& path) {
  if (path.empty()) return logs::SignatureTable::BuiltIn();
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  std::string text;
  int error = file < 0 ? errno : 0;
  struct stat info = {};
  if (file >= 0 && fstat(file, &info) == 0 && S_ISFIFO(info.st_mode)) error = ESPIPE;
  if (error == 0) error = file::ReadUpTo(file, logs::kMaxSignatureFileBytes + 1, text);
  if (file >= 0) close(file);
  if (error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("signatures: cannot read ", path, ": ", std::strerror(error)));
  }
  if (text.size() > logs::kMaxSignatureFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat("signatures: ", path, " is larger than ",
                                                   logs::kMaxSignatureFileBytes, " bytes"));
  }
  absl::StatusOr<std::vector<logs::Signature>> added = logs::ParseSignatures(text);
  if (!added.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("signatures: ", path, ": ", std::string(added.status().message())));
  }
  return logs::SignatureTable::With(*std::move(added));
}

}  // namespace rapideye::agent
