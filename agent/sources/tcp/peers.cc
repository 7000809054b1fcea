#include "agent/sources/tcp/peers.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye::agent {
namespace {

constexpr absl::string_view kSlice = "{slice}";
constexpr absl::string_view kTask = "{task}";

std::optional<int32_t> ParseNumber(absl::string_view text, int32_t end) {
  int32_t number = 0;
  const bool digits = text.find_first_not_of("0123456789") == absl::string_view::npos;
  if (!digits || !absl::SimpleAtoi(text, &number) || number >= end) return std::nullopt;
  return number;
}

std::optional<std::pair<WorkerId, IpAddress>> ParsePeer(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> sides =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  const std::pair<absl::string_view, absl::string_view> numbers =
      absl::StrSplit(sides.first, absl::MaxSplits('/', 1));
  const auto slice = ParseNumber(numbers.first, WorkerId::kMaxSlice + 1);
  const auto task = ParseNumber(numbers.second, WorkerId::kMaxTask + 1);
  const auto address = ParseIpAddress(sides.second);
  if (!slice.has_value() || !task.has_value() || !address.has_value()) return std::nullopt;
  return std::pair{WorkerId{*slice, *task}, *address};
}

}  // namespace

absl::StatusOr<Peers> Peers::Parse(const std::vector<std::string>& peers,
                                   const std::string& address_template) {
  Peers result;
  for (const std::string& text : peers) {
    const auto peer = ParsePeer(text);
    if (!peer.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--peer=", text, ": expected SLICE/TASK=ADDRESS, such as 1/3=10.0.0.7"));
    }
    if (!result.workers_.emplace(peer->second, peer->first).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--peer=", text, ": that address has been given already"));
    }
  }
  if (address_template.empty()) return result;
  result.template_ = absl::StrSplit(address_template, '.');
  int slices = 0;
  int tasks = 0;
  bool sound = result.template_.size() == 4;
  for (const std::string& part : result.template_) {
    slices += part == kSlice ? 1 : 0;
    tasks += part == kTask ? 1 : 0;
    sound = sound && (part == kSlice || part == kTask || ParseNumber(part, 256).has_value());
  }
  if (!sound || slices > 1 || tasks != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--peer-address-template=", address_template,
                     ": expected an IPv4 address with {task}, and {slice} if there are several, in "
                     "place of a number, such as 10.{slice}.0.{task}"));
  }
  return result;
}

std::optional<WorkerId> Peers::WorkerOfAddress(const IpAddress& address) const {
  const auto known = workers_.find(address);
  if (known != workers_.end()) return known->second;
  if (template_.empty() || !address.IsV4()) return std::nullopt;
  WorkerId worker;
  for (size_t i = 0; i < template_.size(); ++i) {
    const int32_t number = address.bytes[12 + i];
    if (template_[i] == kSlice) {
      worker.slice = number;
    } else if (template_[i] == kTask) {
      worker.task = number;
    } else if (ParseNumber(template_[i], 256) != number) {
      return std::nullopt;
    }
  }
  return worker;
}

}  // namespace rapideye::agent
