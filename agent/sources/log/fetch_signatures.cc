#include "agent/sources/log/fetch_signatures.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/logs/limits.h"

namespace rapideye::agent {

absl::StatusOr<logs::SignatureTable> ReadSignatureTable(const std::string& path) {
  if (path.empty()) return logs::SignatureTable::BuiltIn();
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(logs::kMaxSignatureFileBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return absl::InvalidArgumentError(
        absl::StrCat("signatures: cannot read ", path, ": ", std::strerror(errno)));
  }
  text.resize(static_cast<size_t>(file.gcount()));
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
