#include "classifier/hlo/difference.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "classifier/hlo/instruction.h"
#include "classifier/hlo/kernel_body.h"
#include "classifier/hlo/module.h"
#include "classifier/hlo/origin.h"
#include "classifier/hlo/token.h"

namespace rapideye::classifier {
namespace {

// Computations call each other a few levels deep; calls beyond this depth are not followed.
constexpr int kMaxDepth = 64;
// In a backend configuration, this key stands in front of a kernel's bytes.
constexpr std::string_view kBody = "\"body\"";

using Names = absl::flat_hash_map<std::string_view, int>;
using Pair = std::pair<int, int>;  // of computations

struct Instructions {
  const HloModule& module;
  const HloComputation& computation;
  mutable Names names;  // made when it is first asked for

  Instructions(const HloModule& m, int index)
      : module(m), computation(m.computations[static_cast<size_t>(index)]) {}

  // The thing that a word refers to: an instruction of this computation, or a computation.
  struct Referent {
    int instruction = -1;
    int computation = -1;
    friend bool operator==(const Referent&, const Referent&) = default;
  };
  Referent Find(const HloToken& token) const {
    if (!token.reference) return {};
    if (names.empty()) {
      names.reserve(computation.instructions.size());
      for (const HloInstruction& instruction : computation.instructions) {
        names.try_emplace(instruction.name, static_cast<int>(names.size()));
      }
    }
    if (const auto it = names.find(token.text); it != names.end()) return {it->second, -1};
    if (const auto it = module.by_name.find(token.text); it != module.by_name.end()) {
      return {-1, it->second};
    }
    return {};
  }
};

bool SameNames(const Instructions& left, const Instructions& right) {
  return std::equal(left.computation.instructions.begin(), left.computation.instructions.end(),
                    right.computation.instructions.begin(), right.computation.instructions.end(),
                    [](const auto& a, const auto& b) { return a.name == b.name; });
}

// Calls `take` with the name of each computation that an instruction of the long form calls:
// it stands behind "=%", or in a list "={%a, %b}", where no operand does.
template <typename Take>
void ForEachCalled(std::string_view text, const Take& take) {
  bool listed = false;
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at)) {
    const std::string_view before = text.substr(0, at);
    const bool list = before.ends_with("={");
    const bool called = list || before.ends_with('=') || (listed && before.ends_with(", "));
    const size_t end = std::min(text.find_first_of(" ,)}\n", at), text.size());
    if (called) take(text.substr(at + 1, end - at - 1));
    listed = (list || (listed && called)) && text.substr(end).starts_with(',');
    at = end;
  }
}

// The part of an instruction's text around `at`.
std::string Excerpt(const HloInstruction& instruction, size_t at) {
  constexpr size_t kBefore = 100;
  const std::string_view text = instruction.text;
  std::string shown = absl::StrCat(std::string(instruction.name.substr(0, kBefore)), " = ");
  const size_t room = kMaxHloExcerptBytes - shown.size();
  if (text.size() <= room) return shown + std::string(text);
  const size_t begin = at > room / 2 ? at - room / 2 : 0;
  if (begin > 0) shown += "... ";
  shown += std::string(text.substr(begin, room - 8));
  if (begin + room - 8 < text.size()) shown += " ...";
  return shown;
}

std::string ShapeOf(const HloParts& parts) {
  return std::string(parts.shape.substr(0, std::min(parts.shape.find('{'), kMaxHloExcerptBytes)));
}

std::string_view ShardingOf(const HloParts& parts) {
  std::string_view sharding;
  ForEachHloAttribute(parts.attributes, [&](std::string_view key, std::string_view value) {
    if (key == "sharding") sharding = value;
  });
  return sharding;
}

// Parameters of the entry computation, by their numbers.
struct Parameter {
  size_t index = 0;            // in the computation
  std::string_view operation;  // its name in the user's program
  std::string shape;
  std::string_view sharding;
};

std::map<int64_t, Parameter> ParametersOf(const HloComputation& entry) {
  std::map<int64_t, Parameter> parameters;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const std::string_view text = entry.instructions[i].text;
    const HloParts parts = ParseHloInstruction(text);
    if (parts.opcode != "parameter") continue;
    int64_t number = 0;
    const char* end = parts.operands.data() + parts.operands.size();
    if (std::from_chars(parts.operands.data(), end, number).ec != std::errc()) continue;
    Parameter parameter{i, QuotedHloValue(text, "op_name"), ShapeOf(parts), ShardingOf(parts)};
    parameters.try_emplace(number, std::move(parameter));
  }
  return parameters;
}

// Not every build of libtpu states shardings.
bool SameParameter(const Parameter& left, const Parameter& right) {
  return left.operation == right.operation && left.shape == right.shape &&
         (left.sharding.empty() || right.sharding.empty() || left.sharding == right.sharding);
}

// The first parameter whose name none of the others has; null: each name is on both sides.
const Parameter* OnlyHere(const std::map<int64_t, Parameter>& here,
                          const std::map<int64_t, Parameter>& there) {
  absl::flat_hash_set<std::string_view> names;
  for (const auto& [number, parameter] : there) names.insert(parameter.operation);
  for (const auto& [number, parameter] : here) {
    if (!parameter.operation.empty() && !names.contains(parameter.operation)) return &parameter;
  }
  return nullptr;
}

// A parameter on either side; absent on a side that has no such parameter.
using OtherParameter = std::array<std::optional<Parameter>, 2>;

// The first parameter in whose number, name, shape or sharding two programs differ; both
// absent if no such difference is certain.
OtherParameter FindOtherParameter(const HloComputation& left, const HloComputation& right) {
  const auto lefts = ParametersOf(left);
  const auto rights = ParametersOf(right);
  if (lefts.size() != rights.size()) {
    if (!left.complete || !right.complete) return {};
    OtherParameter found;
    if (const Parameter* only = OnlyHere(lefts, rights)) found[0] = *only;
    if (const Parameter* only = OnlyHere(rights, lefts)) found[1] = *only;
    return found;
  }
  auto other = rights.begin();
  for (const auto& [number, parameter] : lefts) {
    if (other->first != number) return {};
    if (!SameParameter(parameter, other->second)) return {parameter, other->second};
    ++other;
  }
  return {};
}

// The first instruction behind `index` that uses its value and has a source line; -1: none.
// An instruction without a source line hands the value on; a few such steps are followed.
int FirstUser(const HloModule& module, const HloComputation& computation, size_t index) {
  constexpr size_t kMostHands = 8;
  const HloSourceLines lines(module);
  std::vector<std::string_view> values = {computation.instructions[index].name};
  for (size_t i = index + 1; i < computation.instructions.size(); ++i) {
    const HloInstruction& instruction = computation.instructions[i];
    std::string_view operands = ParseHloInstruction(instruction.text).operands;
    for (std::string_view name = NextHloName(operands); !name.empty();
         name = NextHloName(operands)) {
      if (std::find(values.begin(), values.end(), name) == values.end()) continue;
      if (lines.Of(instruction.text).known()) return static_cast<int>(i);
      if (values.size() < kMostHands) values.push_back(instruction.name);
      break;
    }
  }
  return -1;
}

// Equal texts of the long form mean the same, if computations have the same names on both sides. A
// text without a percent sign may be of the short form, in which callees are not found so easily.
bool SameText(const Instructions& left, const Instructions& right, size_t i) {
  const std::string_view text = left.computation.instructions[i].text;
  return text == right.computation.instructions[i].text && text.find('%') != std::string_view::npos;
}

void AddCalled(const Instructions& left, const Instructions& right, size_t i,
               std::vector<Pair>& called) {
  ForEachCalled(left.computation.instructions[i].text, [&](std::string_view name) {
    const auto from = left.module.by_name.find(name);
    const auto to = right.module.by_name.find(name);
    if (from == left.module.by_name.end() || to == right.module.by_name.end()) return;
    called.emplace_back(from->second, to->second);
  });
}

// The computation that a call instruction calls; -1 for other instructions.
int CalledBy(const Instructions& side, size_t i) {
  const HloParts parts = ParseHloInstruction(side.computation.instructions[i].text);
  int called = -1;
  if (parts.opcode != "call") return called;
  ForEachHloAttribute(parts.attributes, [&](std::string_view key, std::string_view value) {
    if (value.starts_with('%')) value.remove_prefix(1);
    const auto found = side.module.by_name.find(value);
    if (key == "to_apply" && found != side.module.by_name.end()) called = found->second;
  });
  return called;
}

bool IsCutOff(const Instructions& side, size_t i, const HloToken& token) {
  const std::vector<HloInstruction>& all = side.computation.instructions;
  return !side.computation.complete && i + 1 == all.size() &&
         token.begin + token.text.size() >= all[i].text.size();
}

void Attribute(const Instructions& side, const HloInstruction& to, HloPlace& place) {
  const std::string_view operation = QuotedHloValue(to.text, "op_name");
  if (!operation.empty()) place.operation = operation.substr(0, kMaxHloExcerptBytes);
  const HloSourceLine source = HloSourceLines(side.module).Of(to.text);
  if (source.known()) place.source = source;
}

HloPlace PlaceOf(const Instructions& side, size_t i, size_t at) {
  const std::vector<HloInstruction>& all = side.computation.instructions;
  HloPlace place;
  place.computation = std::string(side.computation.name.substr(0, kMaxHloExcerptBytes));
  if (i >= all.size()) return place;
  place.instruction = Excerpt(all[i], at);
  place.name = std::string(all[i].name.substr(0, kMaxHloExcerptBytes));
  const HloParts parts = ParseHloInstruction(all[i].text);
  place.shape = ShapeOf(parts);
  place.sharding = ShardingOf(parts).substr(0, kMaxHloExcerptBytes);
  Attribute(side, all[i], place);
  if (parts.opcode == "constant" && !place.source.known()) {
    const int user = FirstUser(side.module, side.computation, i);
    if (user >= 0) Attribute(side, all[static_cast<size_t>(user)], place);
  }
  return place;
}

HloPlace PlaceOf(const Instructions& side, const std::optional<Parameter>& parameter) {
  const size_t end = side.computation.instructions.size();
  return PlaceOf(side, parameter.has_value() ? parameter->index : end, 0);
}

// Of instructions of both sides, counted from 1, the first in its text, so that the order of the
// sides makes no difference.
int64_t PositionOf(const std::array<std::optional<size_t>, 2>& indices) {
  std::optional<size_t> first;
  for (const std::optional<size_t>& index : indices) {
    if (index.has_value()) first = std::min(first.value_or(*index), *index);
  }
  return static_cast<int64_t>(first.value_or(0)) + 1;
}

std::string_view TextOf(const HloModule& module, const HloOriginSide& side) {
  return Instructions(module, side.computation).computation.instructions[*side.instruction].text;
}

HloPlace PlaceOf(const HloModule& module, const HloOriginSide& side, size_t at) {
  const Instructions all(module, side.computation);
  return PlaceOf(all, side.instruction.value_or(all.computation.instructions.size()), at);
}

class Comparison {
 public:
  Comparison(const HloModule& left, const HloModule& right) : left_(left), right_(right) {}

  HloDifference Compare();

 private:
  // Of programs that are in no order yet: where they differ, rather than where their texts do.
  void ShowOrigin();
  void ShowParameters();
  void InOrderOfText();

  bool Found() const { return difference_.outcome == HloOutcome::kDifferent; }

  // Compares every pair once, so that the time stays linear in the texts.
  void CompareComputations(Pair pair, int depth);

  // A computation that is called from several places is the same at each place. So none needs a
  // comparison with more than a few computations of the other side.
  bool Unseen(const Pair& pair);

  // Two calls differ, say in the number of their values: the called computations show why.
  void LookIntoCalls(const Instructions& left, const Instructions& right, size_t i, int depth);

  // One of the two sides has no instruction `i`: a difference, if that side was read to its end.
  void Ended(const Instructions& left, const Instructions& right, size_t i);
  bool Same(const Instructions& left, const Instructions& right, size_t i,
            std::vector<Pair>& called);

  // A fusion or reduction tells the source of its computation better than the instructions in it
  // do. Of nested callers, takes the outermost that is no loop, branch or call.
  void AttributeToCaller(const Instructions& left, const Instructions& right, size_t i, int depth);

  // Two kernels may do the same although their bodies differ.
  void KernelDiffers(const Instructions& left, const Instructions& right, size_t i,
                     const HloToken& a, const HloToken& b);

  static std::string_view Unquoted(std::string_view text) {
    return text.substr(1, std::max<size_t>(text.size(), 2) - 2);
  }

  void Differs(const Instructions& left, const Instructions& right, size_t i, size_t left_at,
               size_t right_at);
  void AttributesDiffer();
  static HloPlace OfModule(const HloModule& module, size_t at);

  const HloModule& left_;
  const HloModule& right_;
  HloDifference difference_;
  absl::flat_hash_set<Pair> seen_;
  absl::flat_hash_map<int, int> left_partners_;  // of computations, how many so far
  absl::flat_hash_map<int, int> right_partners_;
  bool called_by_loop_ = false;  // the difference lies within a loop, branch or call
  bool unfinished_ = false;      // some text was not read to its end
};

HloDifference Comparison::Compare() {
  if (left_.entry >= 0 && right_.entry >= 0) {
    CompareComputations({left_.entry, right_.entry}, 0);
    if (Found()) {
      ShowOrigin();
      ShowParameters();
    }
  } else {
    InOrderOfText();
  }
  if (difference_.outcome == HloOutcome::kDifferent) return difference_;
  if (left_.attributes != right_.attributes && !unfinished_) {
    AttributesDiffer();
  } else if (unfinished_) {
    difference_.outcome = HloOutcome::kEqualAsFarAsRead;
  } else if (difference_.kernel) {
    difference_.outcome = HloOutcome::kKernelOrItsSource;
  } else {
    difference_.outcome = HloOutcome::kEqualButForNames;
  }
  return difference_;
}

void Comparison::ShowOrigin() {
  constexpr std::string_view kOrdered = "is_scheduled=true";
  for (const HloModule* module : {&left_, &right_}) {
    if (!module->complete || module->attributes.find(kOrdered) != std::string_view::npos) return;
  }
  const std::optional<HloOrigin> origin = FindHloOrigin(left_, right_);
  if (!origin.has_value()) return;
  std::array<size_t, 2> at = {0, 0};
  const auto& [left, right] = origin->sides;
  if (left.instruction.has_value() && right.instruction.has_value()) {
    const std::string_view one = TextOf(left_, left);
    const std::string_view other = TextOf(right_, right);
    const auto [a, b] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    at = {static_cast<size_t>(a - one.begin()), static_cast<size_t>(b - other.begin())};
  }
  difference_.position = PositionOf({left.instruction, right.instruction});
  difference_.places = {PlaceOf(left_, left, at[0]), PlaceOf(right_, right, at[1])};
  if (!origin->callers.has_value()) return;
  for (size_t i = 0; i < 2; ++i) {
    const HloOriginSide& caller = (*origin->callers)[i];
    const Instructions side(i == 0 ? left_ : right_, caller.computation);
    Attribute(side, side.computation.instructions[*caller.instruction], difference_.places[i]);
  }
}

void Comparison::ShowParameters() {
  const Instructions left(left_, left_.entry);
  const Instructions right(right_, right_.entry);
  const OtherParameter found = FindOtherParameter(left.computation, right.computation);
  if (!found[0].has_value() && !found[1].has_value()) return;
  std::array<std::optional<size_t>, 2> indices;
  for (size_t side = 0; side < 2; ++side) {
    if (found[side].has_value()) indices[side] = found[side]->index;
  }
  difference_.position = PositionOf(indices);
  difference_.places = {PlaceOf(left, found[0]), PlaceOf(right, found[1])};
}

void Comparison::InOrderOfText() {
  unfinished_ = true;
  const size_t both = std::min(left_.computations.size(), right_.computations.size());
  for (size_t i = 0; i < both && !Found(); ++i) {
    CompareComputations({static_cast<int>(i), static_cast<int>(i)}, 0);
  }
}

void Comparison::CompareComputations(Pair pair, int depth) {
  if (depth > kMaxDepth || !Unseen(pair)) return;
  const Instructions left(left_, pair.first);
  const Instructions right(right_, pair.second);
  const size_t lefts = left.computation.instructions.size();
  const size_t rights = right.computation.instructions.size();
  const bool same_names = SameNames(left, right);
  for (size_t i = 0; i < std::max(lefts, rights); ++i) {
    if (i >= lefts || i >= rights) {
      Ended(left, right, i);
      return;
    }
    std::vector<Pair> called;
    if (same_names && SameText(left, right, i)) {
      AddCalled(left, right, i, called);
    } else if (!Same(left, right, i, called)) {
      return LookIntoCalls(left, right, i, depth);
    }
    for (const Pair& callee : called) {
      CompareComputations(callee, depth + 1);
      if (Found()) return AttributeToCaller(left, right, i, depth);
    }
  }
}

bool Comparison::Unseen(const Pair& pair) {
  constexpr int kMostPartners = 4;
  if (!seen_.insert(pair).second) return false;
  const int partners = std::max(++left_partners_[pair.first], ++right_partners_[pair.second]);
  return partners <= kMostPartners;
}

void Comparison::LookIntoCalls(const Instructions& left, const Instructions& right, size_t i,
                               int depth) {
  const Pair called = {CalledBy(left, i), CalledBy(right, i)};
  if (!Found() || called.first < 0 || called.second < 0) return;
  const HloDifference of_calls = std::exchange(difference_, HloDifference());
  CompareComputations(called, depth + 1);
  if (!Found()) difference_ = of_calls;
}

void Comparison::Ended(const Instructions& left, const Instructions& right, size_t i) {
  const bool left_ended = i >= left.computation.instructions.size();
  if (!(left_ended ? left : right).computation.complete) {
    unfinished_ = true;
    return;
  }
  Differs(left, right, i, 0, 0);
}

bool Comparison::Same(const Instructions& left, const Instructions& right, size_t i,
                      std::vector<Pair>& called) {
  HloTokens left_tokens(left.computation.instructions[i].text);
  HloTokens right_tokens(right.computation.instructions[i].text);
  std::array<std::string_view, 2> before;  // the two words in front
  for (;;) {
    const HloToken a = left_tokens.Next();
    const HloToken b = right_tokens.Next();
    const bool body = before[0] == kBody && before[1] == ":";
    before = {before[1], a.text};
    if (body && a.text != b.text && a.text.starts_with('"') && b.text.starts_with('"')) {
      KernelDiffers(left, right, i, a, b);
      continue;
    }
    if (a.text.empty() && b.text.empty()) return true;
    const Instructions::Referent from = left.Find(a);
    const Instructions::Referent to = right.Find(b);
    const bool calls = from.computation >= 0 && to.computation >= 0;
    if (calls) called.emplace_back(from.computation, to.computation);
    const bool refers = from.instruction >= 0 || to.instruction >= 0;
    if (calls || (refers ? from == to : a.text == b.text)) continue;
    // The last instruction of a text that was cut may be incomplete.
    if (IsCutOff(left, i, a) || IsCutOff(right, i, b)) {
      unfinished_ = true;
      return true;
    }
    Differs(left, right, i, a.begin, b.begin);
    return false;
  }
}

void Comparison::AttributeToCaller(const Instructions& left, const Instructions& right, size_t i,
                                   int depth) {
  if (called_by_loop_ || depth > kMaxDepth) return;
  const HloInstruction& caller = left.computation.instructions[i];
  const std::string_view opcode = ParseHloInstruction(caller.text).opcode;
  called_by_loop_ = opcode == "while" || opcode == "conditional" || opcode == "call";
  if (called_by_loop_) return;
  Attribute(left, caller, difference_.places[0]);
  Attribute(right, right.computation.instructions[i], difference_.places[1]);
}

void Comparison::KernelDiffers(const Instructions& left, const Instructions& right, size_t i,
                               const HloToken& a, const HloToken& b) {
  if (difference_.kernel || SameKernelElsewhere(Unquoted(a.text), Unquoted(b.text))) return;
  difference_.kernel = true;
  difference_.position = static_cast<int64_t>(i) + 1;
  difference_.places = {PlaceOf(left, i, 0), PlaceOf(right, i, 0)};
}

void Comparison::Differs(const Instructions& left, const Instructions& right, size_t i,
                         size_t left_at, size_t right_at) {
  difference_.outcome = HloOutcome::kDifferent;
  difference_.kernel = false;
  difference_.position = static_cast<int64_t>(i) + 1;
  difference_.places = {PlaceOf(left, i, left_at), PlaceOf(right, i, right_at)};
}

void Comparison::AttributesDiffer() {
  difference_.outcome = HloOutcome::kDifferent;
  const auto [a, b] = std::mismatch(left_.attributes.begin(), left_.attributes.end(),
                                    right_.attributes.begin(), right_.attributes.end());
  const auto at = static_cast<size_t>(a - left_.attributes.begin());
  difference_.kernel = false;
  difference_.position = 0;
  difference_.places = {OfModule(left_, at), OfModule(right_, at)};
}

HloPlace Comparison::OfModule(const HloModule& module, size_t at) {
  HloPlace place;
  place.instruction = Excerpt({"HloModule", module.attributes}, at);
  return place;
}

}  // namespace

HloDifference CompareHlo(const HloText& left, const HloText& right) {
  HloDifference difference;
  if (left.text == right.text) {
    const bool is_hlo = !HloModuleName(left.text).empty();
    if (is_hlo) difference.outcome = HloOutcome::kEqual;
    if (is_hlo && (left.cut || right.cut)) difference.outcome = HloOutcome::kEqualAsFarAsRead;
    return difference;
  }
  const std::optional<HloModule> a = ParseHloModule(left.text);
  const std::optional<HloModule> b = ParseHloModule(right.text);
  if (!a.has_value() || !b.has_value()) return difference;
  difference = Comparison(*a, *b).Compare();
  const bool whole = !left.cut && !right.cut && a->complete && b->complete;
  if (!whole && difference.outcome != HloOutcome::kDifferent) {
    difference.outcome = HloOutcome::kEqualAsFarAsRead;
  }
  return difference;
}

}  // namespace rapideye::classifier
