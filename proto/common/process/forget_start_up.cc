#include "proto/common/process/forget_start_up.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/common/file/small_file.h"

namespace rapideye {
namespace {

// A hundred libraries of five mappings take 400 KiB.
constexpr size_t kMaxSmapsBytes = 4 * 1024 * 1024;

struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool read_only_file = false;
};

// "7f1c8a600000-7f1c8a622000 r--p 00000000 08:01 1835 /usr/lib/libc.so.6"; absent: another line.
std::optional<Mapping> ParseMapping(absl::string_view line) {
  const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (fields.size() < 5) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> range =
      absl::StrSplit(fields[0], absl::MaxSplits('-', 1));
  Mapping mapping;
  uint64_t begin = 0;
  uint64_t end = 0;
  if (!absl::SimpleHexAtoi(range.first, &begin) || !absl::SimpleHexAtoi(range.second, &end)) {
    return std::nullopt;
  }
  mapping.begin = begin;
  mapping.end = end;
  const bool private_read_only = fields[1] == "r--p" || fields[1] == "r-xp";
  mapping.read_only_file =
      private_read_only && fields.size() >= 6 && absl::StartsWith(fields[5], "/");
  return mapping;
}

}  // namespace

void ForgetStartUp() {
  malloc_trim(0);
  const std::optional<std::string> smaps = file::ReadSmallFile("/proc/self/smaps", kMaxSmapsBytes);
  if (!smaps.has_value()) return;
  std::optional<Mapping> current;
  for (absl::string_view line : absl::StrSplit(*smaps, '\n')) {
    if (auto mapping = ParseMapping(line); mapping.has_value() && !absl::StrContains(line, " kB")) {
      current = mapping;
      continue;
    }
    // Relocated tables are read-only, too, and no file has them.
    int64_t changed = 0;
    if (!current.has_value() || !current->read_only_file ||
        !absl::ConsumePrefix(&line, "Anonymous:") || !absl::ConsumeSuffix(&line, " kB") ||
        !absl::SimpleAtoi(line, &changed) || changed != 0) {
      continue;
    }
    madvise(reinterpret_cast<void*>(current->begin), current->end - current->begin, MADV_DONTNEED);
  }
}

}  // namespace rapideye
