#include "classifier/hlo/assignment.h"

#include <charconv>
#include <string_view>

#include "absl/container/flat_hash_set.h"

namespace rapideye::classifier {
namespace {

// Takes the next word, brace or colon; empty at the end. The text holds no strings before the
// assignment ends, and none within it.
std::string_view NextToken(std::string_view& rest) {
  constexpr std::string_view kBlank = " \t\r\n";
  constexpr std::string_view kMarks = "{}:";
  const size_t begin = rest.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest.remove_prefix(begin);
  size_t size = 1;
  if (kMarks.find(rest.front()) == std::string_view::npos) {
    size = rest.find_first_of(" \t\r\n{}:");
    if (size == std::string_view::npos) size = rest.size();
  }
  const std::string_view token = rest.substr(0, size);
  rest.remove_prefix(size);
  return token;
}

std::optional<int64_t> NumberAfterColon(std::string_view& rest) {
  if (NextToken(rest) != ":") return std::nullopt;
  const std::string_view token = NextToken(rest);
  int64_t number = -1;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  const bool whole = error == std::errc() && end == token.data() + token.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

// The one device of a partition, behind "computation_devices".
std::optional<int64_t> TakeDevice(std::string_view& rest) {
  if (NextToken(rest) != "{" || NextToken(rest) != "replica_device_ids") return std::nullopt;
  const std::optional<int64_t> device = NumberAfterColon(rest);
  return NextToken(rest) == "}" ? device : std::nullopt;
}

}  // namespace

std::optional<HloAssignment> ParseHloAssignment(std::string_view execution_options) {
  // A message of the text's first level begins its line.
  constexpr std::string_view kBegin = "device_assignment {";
  size_t at = execution_options.starts_with(kBegin) ? 0 : std::string_view::npos;
  if (at != 0) {
    at = execution_options.find("\ndevice_assignment {");
    if (at == std::string_view::npos) return std::nullopt;
    ++at;
  }
  std::string_view rest = execution_options.substr(at + kBegin.size());
  std::optional<int64_t> replicas;
  std::optional<int64_t> partitions;
  HloAssignment assignment;
  absl::flat_hash_set<int64_t> seen;
  for (std::string_view key = NextToken(rest); key != "}"; key = NextToken(rest)) {
    if (key == "replica_count") {
      replicas = NumberAfterColon(rest);
    } else if (key == "computation_count") {
      partitions = NumberAfterColon(rest);
    } else if (key == "computation_devices") {
      const std::optional<int64_t> device = TakeDevice(rest);
      if (!device || !seen.insert(*device).second) return std::nullopt;
      if (seen.size() > static_cast<size_t>(kMaxHloDevices)) return std::nullopt;
      assignment.push_back(*device);
    } else {
      return std::nullopt;
    }
  }
  const bool whole = replicas == 1 && partitions == static_cast<int64_t>(assignment.size());
  if (!whole || assignment.empty()) return std::nullopt;
  return assignment;
}

std::vector<DeviceGroup> DeviceGroupsOf(const HloGroups& groups, const HloAssignment& assignment) {
  std::vector<bool> seen(assignment.size());
  size_t members = 0;
  std::vector<DeviceGroup> named;
  for (const std::vector<int64_t>& group : groups) {
    DeviceGroup& devices = named.emplace_back();
    for (const int64_t partition : group) {
      if (partition < 0 || static_cast<size_t>(partition) >= assignment.size()) return {};
      const auto at = static_cast<size_t>(partition);
      if (seen[at]) return {};
      seen[at] = true;
      ++members;
      devices.devices.push_back(assignment[at]);
    }
  }
  if (members != assignment.size()) return {};
  std::erase_if(named, [](const DeviceGroup& group) {
    return group.devices.size() < 2 || group.devices.size() > size_t{DeviceGroup::kMaxDevices};
  });
  return named;
}

std::vector<DeviceGroup> DevicePairsOf(const HloGroups& pairs, const HloAssignment& assignment) {
  const auto is_partition = [&assignment](int64_t number) {
    return number >= 0 && static_cast<size_t>(number) < assignment.size();
  };
  std::vector<bool> sends(assignment.size());
  std::vector<bool> receives(assignment.size());
  std::vector<DeviceGroup> named;
  for (const std::vector<int64_t>& pair : pairs) {
    if (pair.size() != 2 || !is_partition(pair[0]) || !is_partition(pair[1])) return {};
    const auto source = static_cast<size_t>(pair[0]);
    const auto target = static_cast<size_t>(pair[1]);
    if (sends[source] || receives[target]) return {};
    sends[source] = true;
    receives[target] = true;
    if (source != target) named.push_back({{assignment[source], assignment[target]}});
  }
  return named;
}

}  // namespace rapideye::classifier
