#include "agent/sources/start_up/parse.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace rapideye::agent {
namespace {

std::vector<uint32_t> Numbers(absl::string_view text) {
  std::vector<uint32_t> numbers;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
    uint32_t number = 0;
    if (absl::SimpleAtoi(word, &number)) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::optional<Rights> ParseRights(absl::string_view status) {
  constexpr uint64_t kDacOverride = 1 << 1;
  constexpr size_t kOfFiles = 3;  // real, effective, saved, for files
  Rights rights;
  bool user = false;
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    if (absl::ConsumePrefix(&line, "Uid:")) {
      const std::vector<uint32_t> ids = Numbers(line);
      user = ids.size() > kOfFiles;
      if (user) rights.user = ids[kOfFiles];
    } else if (absl::ConsumePrefix(&line, "Gid:")) {
      const std::vector<uint32_t> ids = Numbers(line);
      if (ids.size() > kOfFiles) rights.groups.insert(ids[kOfFiles]);
    } else if (absl::ConsumePrefix(&line, "Groups:")) {
      for (const uint32_t group : Numbers(line)) rights.groups.insert(group);
    } else if (absl::ConsumePrefix(&line, "CapEff:")) {
      uint64_t capabilities = 0;
      if (absl::SimpleHexAtoi(line, &capabilities)) {
        rights.passes_modes = (capabilities & kDacOverride) != 0;
      }
    }
  }
  if (!user) return std::nullopt;
  return rights;
}

bool MayOpen(const Rights& rights, uint32_t mode, uint32_t owner, uint32_t group) {
  constexpr uint32_t kReadAndWrite = 06;
  if (rights.passes_modes) return true;
  const uint32_t shift = owner == rights.user ? 6 : rights.groups.contains(group) ? 3 : 0;
  return (mode >> shift & kReadAndWrite) == kReadAndWrite;
}

std::set<uint64_t> ConnectionsTo(absl::string_view table, uint16_t port) {
  constexpr absl::string_view kEstablished = "01";
  std::set<uint64_t> inodes;
  for (const absl::string_view line : absl::StrSplit(table, '\n')) {
    // sl local_address rem_address st queues timer retrnsmt uid timeout inode ...
    const std::vector<absl::string_view> columns = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (columns.size() < 10 || columns[3] != kEstablished) continue;
    const std::vector<absl::string_view> remote = absl::StrSplit(columns[2], ':');
    uint32_t number = 0;
    uint64_t inode = 0;
    if (remote.size() == 2 && absl::SimpleHexAtoi(remote[1], &number) && number == port &&
        absl::SimpleAtoi(columns[9], &inode) && inode != 0) {
      inodes.insert(inode);
    }
  }
  return inodes;
}

}  // namespace rapideye::agent
