#include "classifier/hlo/groups.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "classifier/hlo/scan.h"

namespace rapideye::classifier {
namespace {

using Numbers = std::vector<int64_t>;

constexpr size_t kMaxDimensions = 64;

void StripBlanks(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
}

std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// Reads "2,4", with spaces anywhere; absent if the list holds any other text.
std::optional<Numbers> NumbersIn(std::string_view list) {
  Numbers numbers;
  StripBlanks(list);
  while (!list.empty()) {
    const std::optional<int64_t> number = TakeNumber(list);
    if (!number.has_value()) return std::nullopt;
    numbers.push_back(*number);
    StripBlanks(list);
    if (list.empty()) break;
    if (!list.starts_with(',')) return std::nullopt;
    list.remove_prefix(1);
    StripBlanks(list);
  }
  return numbers;
}

// Takes the bracketed list at the beginning of the text.
std::optional<Numbers> TakeList(std::string_view& text) {
  const std::string_view list = InHloBrackets(text);
  const std::optional<Numbers> numbers = NumbersIn(list);
  text.remove_prefix(std::min(list.size() + 2, text.size()));
  return numbers;
}

// The product of dimensions, all above 0; absent if it exceeds the possible number of devices.
std::optional<int64_t> Product(const Numbers& dimensions) {
  if (dimensions.empty() || dimensions.size() > kMaxDimensions) return std::nullopt;
  int64_t product = 1;
  for (const int64_t dimension : dimensions) {
    if (dimension <= 0 || dimension > kMaxHloDevices) return std::nullopt;
    product *= dimension;
    if (product > kMaxHloDevices) return std::nullopt;
  }
  return product;
}

// Reads `flat`, an array of `dimensions`, with its axes in the order of `order`.
Numbers Transposed(const Numbers& flat, const Numbers& dimensions, const Numbers& order) {
  Numbers strides(dimensions.size(), 1);
  for (size_t i = dimensions.size(); i-- > 1;) strides[i - 1] = strides[i] * dimensions[i];
  Numbers index(order.size(), 0);
  Numbers result;
  result.reserve(flat.size());
  while (result.size() < flat.size()) {
    int64_t at = 0;
    for (size_t i = 0; i < order.size(); ++i)
      at += index[i] * strides[static_cast<size_t>(order[i])];
    result.push_back(flat[static_cast<size_t>(at)]);
    for (size_t i = order.size(); i-- > 0;) {
      if (++index[i] < dimensions[static_cast<size_t>(order[i])]) break;
      index[i] = 0;
    }
  }
  return result;
}

bool IsPermutation(Numbers order, size_t size) {
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return order.size() == size;
}

HloGroups InGroupsOf(const Numbers& flat, int64_t size) {
  HloGroups groups;
  for (size_t i = 0; i < flat.size(); i += static_cast<size_t>(size)) {
    groups.emplace_back(flat.begin() + static_cast<ptrdiff_t>(i),
                        flat.begin() + static_cast<ptrdiff_t>(i) + size);
  }
  return groups;
}

Numbers Iota(int64_t count) {
  Numbers numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

HloGroups ListOfLists(std::string_view value, int64_t devices) {
  std::string_view lists = InHloBrackets(value);
  StripBlanks(lists);
  if (lists.empty()) {
    if (devices < 1 || devices > kMaxHloDevices) return {};
    return {Iota(devices)};
  }
  HloGroups groups;
  while (!lists.empty()) {
    if (!lists.starts_with('{')) return {};
    std::optional<Numbers> group = TakeList(lists);
    if (!group.has_value()) return {};
    groups.push_back(*std::move(group));
    StripBlanks(lists);
    if (lists.starts_with(',')) lists.remove_prefix(1);
    StripBlanks(lists);
  }
  return groups;
}

// Takes "[4,2]" or "[4,2]T(1,0)": the numbers from 0 on in an array of these dimensions, read with
// its axes in that order. Absent if the text is neither.
std::optional<Numbers> TakeIota(std::string_view& text) {
  if (!text.starts_with('[')) return std::nullopt;
  const std::optional<Numbers> dimensions = TakeList(text);
  if (!dimensions.has_value()) return std::nullopt;
  const std::optional<int64_t> count = Product(*dimensions);
  if (!count.has_value()) return std::nullopt;
  if (!text.starts_with("T(")) return Iota(*count);
  text.remove_prefix(1);
  const std::optional<Numbers> order = TakeList(text);
  if (!order.has_value() || !IsPermutation(*order, dimensions->size())) return std::nullopt;
  return Transposed(Iota(*count), *dimensions, *order);
}

HloGroups OfIota(std::string_view value) {
  const std::optional<Numbers> tiles = TakeList(value);
  if (!tiles.has_value() || !value.starts_with("<=")) return {};
  value.remove_prefix(2);
  const std::optional<Numbers> flat = TakeIota(value);
  if (!flat.has_value()) return {};
  const auto count = static_cast<int64_t>(flat->size());
  if (Product(*tiles) != count) return {};
  return InGroupsOf(*flat, count / (tiles->size() == 1 ? 1 : tiles->front()));
}

// A part of an axis: `size` steps of it, with `before` parts outside of them.
struct AxisPart {
  int64_t axis = 0;
  int64_t before = 1;
  int64_t size = 0;  // 0: the whole axis
};

class MeshGroups {
 public:
  explicit MeshGroups(std::string_view value) : value_(value) {}

  HloGroups Read();

 private:
  // ['a'=2,'b'=4]; names may stand without quotation marks.
  bool ReadAxes();

  // Reads the devices of the mesh, if they are not in ascending order.
  bool ReadDevices();

  // {'a','b':(2)4}
  bool ReadParts();
  bool ReadPart(std::string_view text);

  // Cuts the axes into the parts that are grouped and those between them; the grouped ones
  // vary fastest, in the order in which they are named.
  bool Split();

  std::string_view value_;
  std::map<std::string_view, int64_t> names_;
  Numbers sizes_;
  Numbers devices_;
  std::vector<AxisPart> parts_;
  Numbers dimensions_;
  Numbers order_;
  int64_t group_size_ = 1;
};

HloGroups MeshGroups::Read() {
  if (!ReadAxes() || !ReadDevices() || !ReadParts()) return {};
  if (!Split()) return {};
  return InGroupsOf(Transposed(devices_, dimensions_, order_), group_size_);
}

bool MeshGroups::ReadAxes() {
  value_.remove_prefix(4);
  std::string_view axes = InHloBrackets(value_);
  value_.remove_prefix(std::min(axes.size() + 2, value_.size()));
  while (!axes.empty()) {
    const size_t end = EndOfHloPart(axes, 0, ",");
    std::string_view axis = axes.substr(0, end);
    axes.remove_prefix(std::min(end + 1, axes.size()));
    const size_t equals = axis.rfind('=');
    if (equals == std::string_view::npos) return false;
    std::string_view name = axis.substr(0, equals);
    StripBlanks(name);
    axis.remove_prefix(equals + 1);
    const std::optional<int64_t> size = TakeNumber(axis);
    if (!size.has_value()) return false;
    if (!names_.try_emplace(name, static_cast<int64_t>(sizes_.size())).second) return false;
    sizes_.push_back(*size);
  }
  const std::optional<int64_t> count = Product(sizes_);
  if (!count.has_value()) return false;
  devices_ = Iota(*count);
  return true;
}

bool MeshGroups::ReadDevices() {
  constexpr std::string_view kDevices = "device_ids=";
  while (value_.starts_with(',') || value_.starts_with(' ')) value_.remove_prefix(1);
  if (!value_.starts_with(kDevices)) return true;
  value_.remove_prefix(kDevices.size());
  std::string_view ids = InHloBrackets(value_);
  value_.remove_prefix(std::min(ids.size() + 2, value_.size()));
  const std::optional<Numbers> listed = ids.starts_with('[') ? TakeIota(ids) : NumbersIn(ids);
  if (!listed.has_value() || listed->size() != devices_.size()) return false;
  devices_ = *listed;
  StripBlanks(value_);
  return true;
}

bool MeshGroups::ReadParts() {
  if (!value_.starts_with('{')) return false;
  std::string_view parts = InHloBrackets(value_);
  while (!parts.empty()) {
    const size_t end = EndOfHloPart(parts, 0, ",");
    std::string_view part = parts.substr(0, end);
    parts.remove_prefix(std::min(end + 1, parts.size()));
    if (!ReadPart(part)) return false;
  }
  return parts_.size() <= kMaxDimensions;
}

bool MeshGroups::ReadPart(std::string_view text) {
  StripBlanks(text);
  const size_t sub = text.find(":(");
  const auto named = names_.find(text.substr(0, sub));
  if (named == names_.end()) return false;
  AxisPart part{.axis = named->second};
  if (sub != std::string_view::npos) {
    text.remove_prefix(sub + 2);
    const std::optional<int64_t> before = TakeNumber(text);
    if (!before.has_value() || !text.starts_with(')')) return false;
    text.remove_prefix(1);
    const std::optional<int64_t> size = TakeNumber(text);
    if (!size.has_value() || *before < 1 || *size < 1) return false;
    part.before = *before;
    part.size = *size;
  } else {
    part.size = sizes_[static_cast<size_t>(part.axis)];
  }
  parts_.push_back(part);
  return true;
}

bool MeshGroups::Split() {
  std::vector<int64_t> grouped(parts_.size(), -1);  // dimensions
  for (size_t axis = 0; axis < sizes_.size(); ++axis) {
    std::vector<size_t> of_axis;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].axis == static_cast<int64_t>(axis)) of_axis.push_back(i);
    }
    std::sort(of_axis.begin(), of_axis.end(),
              [this](size_t a, size_t b) { return parts_[a].before < parts_[b].before; });
    int64_t before = 1;
    for (const size_t i : of_axis) {
      const AxisPart& part = parts_[i];
      if (part.before < before || part.before % before != 0) return false;
      if (part.before != before) dimensions_.push_back(part.before / before);
      grouped[i] = static_cast<int64_t>(dimensions_.size());
      dimensions_.push_back(part.size);
      if (part.size > sizes_[axis] / part.before) return false;
      before = part.before * part.size;
    }
    if (sizes_[axis] % before != 0) return false;
    if (before != sizes_[axis]) dimensions_.push_back(sizes_[axis] / before);
  }
  for (int64_t i = 0; i < static_cast<int64_t>(dimensions_.size()); ++i) {
    if (std::find(grouped.begin(), grouped.end(), i) == grouped.end()) order_.push_back(i);
  }
  for (const int64_t dimension : grouped) {
    order_.push_back(dimension);
    group_size_ *= dimensions_[static_cast<size_t>(dimension)];
  }
  return true;
}

int64_t DevicesIn(std::string_view attributes, std::string_view name) {
  const size_t at = attributes.find(name);
  if (at == std::string_view::npos) return 1;
  std::string_view rest = attributes.substr(at + name.size());
  return std::clamp<int64_t>(TakeNumber(rest).value_or(1), 1, kMaxHloDevices);
}

}  // namespace

HloGroups ParseHloGroups(std::string_view value, int64_t devices) {
  StripBlanks(value);
  if (value.starts_with('{')) return ListOfLists(value, devices);
  if (value.starts_with('[')) return OfIota(value);
  if (value.starts_with("mesh[")) return MeshGroups(value).Read();
  return {};
}

int64_t HloDevices(std::string_view module_attributes) {
  return std::min(DevicesIn(module_attributes, "replica_count=") *
                      DevicesIn(module_attributes, "num_partitions="),
                  kMaxHloDevices);
}

}  // namespace rapideye::classifier
