#include "classifier/hlo/layers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace rapideye::classifier {
namespace {

constexpr size_t kMaxValueBytes = 200;

using Flags = std::map<std::string_view, std::string_view>;

Flags FlagsIn(std::string_view text) {
  Flags flags;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    while (line.starts_with('-')) line.remove_prefix(1);
    while (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view name = line.substr(0, line.find('='));
    if (name.empty() || name.find("dump") != std::string_view::npos) continue;
    flags[name] = line.substr(std::min(name.size() + 1, line.size()));
  }
  return flags;
}

std::string Value(std::string_view value) {
  return value.empty() ? "unset" : std::string(value.substr(0, kMaxValueBytes));
}

std::string What(const HloPlace& place) {
  return place.instruction.empty() ? "nothing" : place.instruction;
}

std::string Named(const std::string& operation) {
  return operation.empty() ? "something unnamed" : operation;
}

class DumpComparison {
 public:
  DumpComparison(const HloDump& left, const HloDump& right, const std::array<std::string, 2>& sides)
      : left_(left), right_(right), sides_(sides) {}

  HloDumpDifference Run();

 private:
  void CompareBuilds();
  void CompareFlags();
  void Add(HloLayer layer, HloDifference difference);
  std::string SentenceOf(const HloLayerDifference& found) const;
  std::string AfterAlone() const;

  // Names the first layer that differs, behind a flag also the program as it was written, and the
  // result of the comparison of the compiled programs.
  std::string Sentence() const;

  const HloDump& left_;
  const HloDump& right_;
  const std::array<std::string, 2>& sides_;
  HloDumpDifference result_;
};

HloDumpDifference DumpComparison::Run() {
  CompareBuilds();
  CompareFlags();
  if (left_.before.has_value() && right_.before.has_value()) {
    Add(HloLayer::kBefore, CompareHlo({*left_.before, false}, {*right_.before, false}));
  }
  HloDifference after = CompareHlo(left_.after, right_.after);
  result_.outcome = after.outcome;
  Add(HloLayer::kAfter, std::move(after));
  result_.sentence = Sentence();
  return std::move(result_);
}

void DumpComparison::CompareBuilds() {
  if (left_.build.empty() || right_.build.empty() || left_.build == right_.build) return;
  HloLayerDifference found;
  found.layer = HloLayer::kBuild;
  found.values = {left_.build, right_.build};
  found.sentence = absl::StrCat("libtpu differs: build ", left_.build, " on ", sides_[0],
                                ", build ", right_.build, " on ", sides_[1]);
  result_.layers.push_back(std::move(found));
}

void DumpComparison::CompareFlags() {
  if (!left_.flags.has_value() || !right_.flags.has_value()) return;
  const Flags left = FlagsIn(*left_.flags);
  const Flags right = FlagsIn(*right_.flags);
  HloLayerDifference found;
  found.layer = HloLayer::kFlags;
  const auto differs = [&](std::string_view name, std::string_view one, std::string_view other) {
    if (!found.flag.empty()) {
      ++found.more_flags;
      return;
    }
    found.flag = std::string(name);
    found.values = {Value(one), Value(other)};
  };
  for (const auto& [name, value] : left) {
    const auto other = right.find(name);
    if (other == right.end() || other->second != value) {
      differs(name, value, other == right.end() ? "" : other->second);
    }
  }
  for (const auto& [name, value] : right) {
    if (!left.contains(name)) differs(name, "", value);
  }
  if (found.flag.empty()) return;
  found.sentence = absl::StrCat("flag ", found.flag, " is ", found.values[0], " on ", sides_[0],
                                " and ", found.values[1], " on ", sides_[1]);
  if (found.more_flags > 0) {
    absl::StrAppend(&found.sentence, ", and ", found.more_flags, " more differ");
  }
  result_.layers.push_back(std::move(found));
}

void DumpComparison::Add(HloLayer layer, HloDifference difference) {
  if (difference.outcome != HloOutcome::kDifferent &&
      difference.outcome != HloOutcome::kKernelOrItsSource) {
    return;
  }
  HloLayerDifference found;
  found.layer = layer;
  found.difference = std::move(difference);
  found.sentence = SentenceOf(found);
  result_.layers.push_back(std::move(found));
}

std::string DumpComparison::SentenceOf(const HloLayerDifference& found) const {
  const auto& [left, right] = found.difference.places;
  const HloSourceLine& source = left.source.known() ? left.source : right.source;
  const std::string line = source.known() ? absl::StrCat(ShortSourceLine(source), ": ") : "";
  const std::string_view layer = HloLayerName(found.layer);
  if (found.difference.kernel) {
    return absl::StrCat(line, "only the body of kernel ", left.name,
                        " differs: the kernel, or only where its source lies");
  }
  if (found.difference.position == 0) {
    return absl::StrCat("the attributes of the module differ in ", std::string(layer), ": ",
                        What(left), " on ", sides_[0], " against ", What(right), " on ", sides_[1]);
  }
  std::string what;
  if (left.instruction.empty() != right.instruction.empty()) {
    const bool only_right = left.instruction.empty();
    what = absl::StrCat("only ", sides_[only_right ? 1 : 0], " has ",
                        Named((only_right ? right : left).operation), "; ");
  } else if (!left.operation.empty() && left.operation == right.operation) {
    what = absl::StrCat(left.operation, ": ");
  } else if (!left.operation.empty() || !right.operation.empty()) {
    what = absl::StrCat(Named(left.operation), " against ", Named(right.operation), "; ");
  }
  if (!left.shape.empty() && !right.shape.empty() && left.shape != right.shape) {
    absl::StrAppend(&what, left.shape, " against ", right.shape, "; ");
  } else if (!left.sharding.empty() && !right.sharding.empty() && left.sharding != right.sharding) {
    absl::StrAppend(&what, "sharding ", left.sharding, " against ", right.sharding, "; ");
  }
  return absl::StrCat(line, what, std::string(layer), " first differ at instruction ",
                      found.difference.position, " of ", left.computation, ": ", What(left), " on ",
                      sides_[0], ", ", What(right), " on ", sides_[1]);
}

std::string DumpComparison::AfterAlone() const {
  switch (result_.outcome) {
    case HloOutcome::kEqual:
      return "the compiled programs are the same, byte for byte";
    case HloOutcome::kEqualButForNames:
      return "the compiled programs are the same but for names and source lines";
    case HloOutcome::kEqualAsFarAsRead:
      return "the compiled programs are the same as far as their texts go, which are not whole";
    case HloOutcome::kNotComparable:
      return "one of the two is no HLO module";
    case HloOutcome::kKernelOrItsSource:
      return "the compiled programs differ in the body of a kernel only";
    case HloOutcome::kDifferent:
      return "the compiled programs differ";
    case HloOutcome::kUnspecified:
      break;
  }
  return "";
}

std::string DumpComparison::Sentence() const {
  if (result_.layers.empty()) return AfterAlone();
  const HloLayerDifference& first = result_.layers.front();
  if (first.layer == HloLayer::kAfter) return first.sentence;
  std::string sentence = first.sentence;
  // A flag does not change the program that is compiled.
  if (first.layer == HloLayer::kFlags && result_.layers.size() > 1 &&
      result_.layers[1].layer == HloLayer::kBefore) {
    absl::StrAppend(&sentence, "; ", result_.layers[1].sentence);
  }
  return absl::StrCat(sentence, "; ", AfterAlone());
}

}  // namespace

std::string_view HloLayerName(HloLayer layer) {
  switch (layer) {
    case HloLayer::kBuild:
      return "build";
    case HloLayer::kFlags:
      return "flagfile";
    case HloLayer::kBefore:
      return "before_optimizations";
    case HloLayer::kAfter:
      return "after_optimizations";
  }
  return "";
}

HloDumpDifference CompareHloDumps(const HloDump& left, const HloDump& right,
                                  const std::array<std::string, 2>& sides) {
  return DumpComparison(left, right, sides).Run();
}

std::string HloBuildOf(std::string_view file) {
  constexpr std::string_view kBuild = ".cl_";
  const size_t at = file.rfind(kBuild);
  if (at == std::string_view::npos) return "";
  size_t end = at + kBuild.size();
  while (end < file.size() && absl::ascii_isdigit(static_cast<unsigned char>(file[end]))) ++end;
  const bool whole = end > at + kBuild.size() && (end == file.size() || file[end] == '.');
  return whole ? std::string(file.substr(at + 1, end - at - 1)) : "";
}

}  // namespace rapideye::classifier
