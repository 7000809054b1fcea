#include "classifier/logs/watchdog_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"

namespace rapideye::logs {
namespace {

constexpr size_t kMaxGroups = 64;

// The name of the group in the whole job: "0(default_pg)" of "[PG ID 0 PG GUID 0(default_pg) Rank
// 1]", whose ID each rank counts by itself, "1" of "[PG 1 Rank 0]", none of "[Rank 3]".
std::string GroupIn(absl::string_view line) {
  static const RE2* const kGroup = new RE2("\\[PG ([^\\[\\]]{1,80}) Rank \\d{1,6}\\]");
  std::string group;
  RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kGroup, &group);
  constexpr absl::string_view kGuid = "GUID ";
  const size_t guid = group.rfind(kGuid.data());
  return guid == std::string::npos ? group : group.substr(guid + kGuid.size());
}

std::optional<int64_t> NumberIn(absl::string_view line, const RE2& pattern) {
  int64_t number = 0;
  const re2::StringPiece text(line.data(), line.size());
  return RE2::PartialMatch(text, pattern, &number) ? std::optional(number) : std::nullopt;
}

}  // namespace

bool WatchdogLines::Take(absl::string_view line) {
  const bool timed_out = absl::StrContains(line, "collective operation timeout: ");
  if (!timed_out && !absl::StrContains(line, "ast enqueued ")) return false;
  static const RE2* const kNumber = new RE2("\\(SeqNum=(\\d{1,15}),");
  static const RE2* const kOperation = new RE2(", OpType=(\\w{1,40})");
  static const RE2* const kElements = new RE2(", NumelIn=(\\d{1,18})");
  static const RE2* const kAt = new RE2("(?:at|at NCCL) work(?: sequence id)?: (\\d{1,15})\\b");
  static const RE2* const kQueued = new RE2("ast enqueued (?:NCCL )?work: (-?\\d{1,15})\\b");
  NumberedCollective read;
  read.group = GroupIn(line);
  read.number = NumberIn(line, timed_out ? *kNumber : *kAt);
  if (timed_out) {
    RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kOperation, &read.operation);
    read.elements = NumberIn(line, *kElements);
  } else {
    read.last_queued = NumberIn(line, *kQueued);
  }
  if (!read.number && !read.last_queued) return false;
  Keep(std::move(read));
  return true;
}

NumberedCollective* WatchdogLines::Find(const NumberedCollective& like) {
  const auto same = [&like](const NumberedCollective& known) {
    if (known.group == like.group) return true;
    return (known.group.empty() || like.group.empty()) && known.number &&
           known.number == like.number;
  };
  const auto found = std::find_if(kept_.begin(), kept_.end(), same);
  return found == kept_.end() ? nullptr : &*found;
}

void WatchdogLines::Keep(NumberedCollective read) {
  NumberedCollective* known = Find(read);
  if (known == nullptr) {
    if (kept_.size() < kMaxGroups) kept_.push_back(std::move(read));
    return;
  }
  if (known->group.empty()) known->group = std::move(read.group);
  known->last_queued = std::max(known->last_queued, read.last_queued);
  if (!read.number || (known->number && *known->number < *read.number)) return;
  if (known->number != read.number) {
    known->operation.clear();
    known->elements.reset();
  }
  known->number = read.number;
  if (read.operation.empty()) return;
  known->operation = std::move(read.operation);
  known->elements = read.elements;
}

std::vector<NumberedCollective> WatchdogLines::Finish() { return std::move(kept_); }

}  // namespace rapideye::logs
