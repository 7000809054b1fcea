#include "classifier/hlo/origin.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "classifier/hlo/instruction.h"
#include "classifier/hlo/token.h"

namespace rapideye::classifier {
namespace {

// Computations call each other a few levels deep; deeper ones are taken for equal.
constexpr int kMaxOriginDepth = 64;

// An instruction in sums of its words.
struct Line {
  size_t whole = 0;              // with all it computes from
  size_t calling = 0;            // the same without the computations that it calls
  size_t own = 0;                // its own words alone
  std::vector<size_t> operands;  // instructions of the same computation
  std::vector<int> called;       // computations
};
using Lines = std::vector<Line>;

bool IsLoopOrCall(std::string_view text) {
  const std::string_view opcode = ParseHloInstruction(text).opcode;
  return opcode == "while" || opcode == "conditional" || opcode == "call";
}

// A parameter's text up to its number: some builds leave out the sharding.
std::string_view WithoutSharding(std::string_view text) {
  const HloParts parts = ParseHloInstruction(text);
  if (parts.opcode != "parameter") return text;
  return text.substr(0, text.size() - parts.attributes.size());
}

class Sums {
 public:
  explicit Sums(const HloModule& module) : module_(module) {}

  Lines Of(int computation, int depth) {
    const auto& all = module_.computations[static_cast<size_t>(computation)].instructions;
    absl::flat_hash_map<std::string_view, size_t> names;
    names.reserve(all.size());
    Lines lines;
    lines.reserve(all.size());
    for (const HloInstruction& instruction : all) {
      lines.push_back(Read(instruction.text, names, lines, depth));
      names.try_emplace(instruction.name, names.size());
    }
    return lines;
  }

  // Of all instructions of a computation, in any order.
  size_t OfComputation(int computation, int depth) {
    if (depth > kMaxOriginDepth) return 0;
    const auto [it, added] = known_.try_emplace(computation, 0);
    if (!added) return it->second;
    size_t sum = 0;
    for (const Line& line : Of(computation, depth)) sum += absl::HashOf(line.whole);
    known_[computation] = sum;
    return sum;
  }

 private:
  Line Read(std::string_view text, const absl::flat_hash_map<std::string_view, size_t>& names,
            const Lines& before, int depth) {
    Line line;
    HloTokens tokens(WithoutSharding(text), HloTokens::Skipped::kHowAsWell);
    bool channel = false;  // behind its name: the number follows
    for (HloToken token = tokens.Next(); !token.text.empty(); token = tokens.Next()) {
      if (channel && token.text != "=") {
        channel = false;
        continue;
      }
      if (token.text == "channel_id") channel = true;
      if (token.reference && Refers(token.text, names, before, depth, line)) continue;
      const size_t word = absl::HashOf(token.text);
      for (size_t* sum : {&line.own, &line.calling, &line.whole}) *sum = absl::HashOf(*sum, word);
    }
    return line;
  }

  // Adds the instruction or the computation of that name; false if there is none.
  bool Refers(std::string_view name, const absl::flat_hash_map<std::string_view, size_t>& names,
              const Lines& before, int depth, Line& line) {
    if (const auto it = names.find(name); it != names.end()) {
      line.operands.push_back(it->second);
      line.calling = absl::HashOf(line.calling, before[it->second].whole);
      line.whole = absl::HashOf(line.whole, before[it->second].whole);
      return true;
    }
    const auto it = module_.by_name.find(name);
    if (it == module_.by_name.end()) return false;
    line.called.push_back(it->second);
    line.whole = absl::HashOf(line.whole, OfComputation(it->second, depth + 1));
    return true;
  }

  const HloModule& module_;
  absl::flat_hash_map<int, size_t> known_;  // computations; 0 while one is read
};

// Instructions of one side that the other lacks. How often it has them makes no difference: of
// several equal constants none is the one too many.
std::vector<bool> Lacking(const Lines& here, const Lines& there) {
  absl::flat_hash_set<size_t> known;
  for (const Line& line : there) known.insert(line.whole);
  std::vector<bool> lacking(here.size(), false);
  for (size_t i = 0; i < here.size(); ++i) lacking[i] = !known.contains(here[i].whole);
  return lacking;
}

// Those of them that compute from nothing that the other side lacks.
std::vector<size_t> FirstOf(const Lines& lines, const std::vector<bool>& lacking) {
  std::vector<size_t> first;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto has = [&](size_t operand) { return !lacking[operand]; };
    const std::vector<size_t>& operands = lines[i].operands;
    if (lacking[i] && std::all_of(operands.begin(), operands.end(), has)) first.push_back(i);
  }
  return first;
}

// How many more lacking instructions of the same words this side has than the other.
using Surplus = absl::flat_hash_map<size_t, int>;
void Count(const Lines& lines, const std::vector<bool>& lacking, int by, Surplus& surplus) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lacking[i]) surplus[lines[i].own] += by;
  }
}

class Search {
 public:
  Search(const HloModule& left, const HloModule& right)
      : modules_{&left, &right}, sums_{Sums(left), Sums(right)} {}

  using Pair = std::array<int, 2>;  // of computations
  std::optional<HloOrigin> In(Pair pair, int depth);

 private:
  struct Sides {
    Pair pair = {};
    std::array<Lines, 2> lines;
    std::array<std::vector<size_t>, 2> first;
    std::array<std::optional<size_t>, 2> own;  // the first that no other one has become
  };

  static std::optional<HloOrigin> Here(const Sides& sides);

  // Two instructions that compute the same from the same but for the computations they call.
  static std::optional<std::array<size_t, 2>> CallersOf(const Sides& sides);
  std::optional<HloOrigin> Within(const Sides& sides, std::array<size_t, 2> callers, int depth);

  // Each pair is searched once, and a computation in few pairs: the time stays linear.
  bool Unseen(const Pair& pair);

  std::array<const HloModule*, 2> modules_;
  std::array<Sums, 2> sums_;
  absl::flat_hash_set<Pair> seen_;
  std::array<absl::flat_hash_map<int, int>, 2> partners_;  // of computations, how many so far
};

bool Search::Unseen(const Pair& pair) {
  constexpr int kMostPartners = 4;
  if (!seen_.insert(pair).second) return false;
  return std::max(++partners_[0][pair[0]], ++partners_[1][pair[1]]) <= kMostPartners;
}

std::optional<HloOrigin> Search::In(Pair pair, int depth) {
  if (depth > kMaxOriginDepth || !Unseen(pair)) return std::nullopt;
  Sides sides;
  sides.pair = pair;
  sides.lines = {sums_[0].Of(pair[0], 0), sums_[1].Of(pair[1], 0)};
  const std::array<std::vector<bool>, 2> lacking = {Lacking(sides.lines[0], sides.lines[1]),
                                                    Lacking(sides.lines[1], sides.lines[0])};
  Surplus surplus;
  Count(sides.lines[0], lacking[0], 1, surplus);
  Count(sides.lines[1], lacking[1], -1, surplus);
  for (size_t side = 0; side < 2; ++side) {
    sides.first[side] = FirstOf(sides.lines[side], lacking[side]);
    for (const size_t i : sides.first[side]) {
      const int more = surplus[sides.lines[side][i].own];
      if (side == 0 ? more > 0 : more < 0) {
        sides.own[side] = i;
        break;
      }
    }
  }
  const auto behind = [&](size_t i, size_t side) {
    return !sides.own[side] || i < *sides.own[side];
  };
  const std::optional<std::array<size_t, 2>> callers = CallersOf(sides);
  if (callers.has_value() && behind((*callers)[0], 0) && behind((*callers)[1], 1)) {
    if (std::optional<HloOrigin> found = Within(sides, *callers, depth)) return found;
  }
  if (sides.own[0].has_value() && sides.own[1].has_value()) {
    // Calls of other shapes: the called computations show why.
    const std::array<size_t, 2> both = {*sides.own[0], *sides.own[1]};
    if (std::optional<HloOrigin> found = Within(sides, both, depth)) return found;
  }
  return Here(sides);
}

std::optional<HloOrigin> Search::Here(const Sides& sides) {
  HloOrigin origin;
  origin.sides = {HloOriginSide{sides.pair[0], sides.own[0]},
                  HloOriginSide{sides.pair[1], sides.own[1]}};
  if (sides.own[0].has_value() || sides.own[1].has_value()) return origin;
  // The same instructions, of which one computes from another value.
  if (sides.first[0].empty() || sides.first[1].empty()) return std::nullopt;
  const size_t left = sides.first[0].front();
  const auto alike = std::find_if(sides.first[1].begin(), sides.first[1].end(), [&](size_t i) {
    return sides.lines[1][i].own == sides.lines[0][left].own;
  });
  origin.sides[0].instruction = left;
  origin.sides[1].instruction = alike == sides.first[1].end() ? sides.first[1].front() : *alike;
  return origin;
}

std::optional<std::array<size_t, 2>> Search::CallersOf(const Sides& sides) {
  absl::flat_hash_map<size_t, size_t> rights;
  for (const size_t i : sides.first[1]) {
    if (!sides.lines[1][i].called.empty()) rights.try_emplace(sides.lines[1][i].calling, i);
  }
  for (const size_t i : sides.first[0]) {
    if (sides.lines[0][i].called.empty()) continue;
    const auto it = rights.find(sides.lines[0][i].calling);
    if (it != rights.end()) return std::array<size_t, 2>{i, it->second};
  }
  return std::nullopt;
}

std::optional<HloOrigin> Search::Within(const Sides& sides, std::array<size_t, 2> callers,
                                        int depth) {
  const std::vector<int>& left = sides.lines[0][callers[0]].called;
  const std::vector<int>& right = sides.lines[1][callers[1]].called;
  if (left.size() != right.size()) return std::nullopt;
  for (size_t i = 0; i < left.size(); ++i) {
    if (sums_[0].OfComputation(left[i], 0) == sums_[1].OfComputation(right[i], 0)) continue;
    std::optional<HloOrigin> found = In({left[i], right[i]}, depth + 1);
    if (!found.has_value()) continue;
    const auto& all = modules_[0]->computations[static_cast<size_t>(sides.pair[0])].instructions;
    found->within_loop = found->within_loop || IsLoopOrCall(all[callers[0]].text);
    if (!found->within_loop) {
      found->callers = {HloOriginSide{sides.pair[0], callers[0]},
                        HloOriginSide{sides.pair[1], callers[1]}};
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<HloOrigin> FindHloOrigin(const HloModule& left, const HloModule& right) {
  if (left.entry < 0 || right.entry < 0) return std::nullopt;
  return Search(left, right).In({left.entry, right.entry}, 0);
}

}  // namespace rapideye::classifier
