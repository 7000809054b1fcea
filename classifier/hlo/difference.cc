#include "classifier/hlo/difference.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "classifier/hlo/module.h"
#include "classifier/hlo/token.h"

namespace rapideye::classifier {
namespace {

// Computations call each other a few levels deep; what lies deeper is not looked at.
constexpr int kMaxDepth = 64;

using Names = absl::flat_hash_map<std::string_view, int>;
using Pair = std::pair<int, int>;  // of computations

struct Instructions {
  const HloModule& module;
  const HloComputation& computation;
  Names names;

  Instructions(const HloModule& m, int index)
      : module(m), computation(m.computations[static_cast<size_t>(index)]) {
    names.reserve(computation.instructions.size());
    for (const HloInstruction& instruction : computation.instructions) {
      names.try_emplace(instruction.name, static_cast<int>(names.size()));
    }
  }

  // What a word refers to: an instruction of this computation, or a computation.
  struct Referent {
    int instruction = -1;
    int computation = -1;
    friend bool operator==(const Referent&, const Referent&) = default;
  };
  Referent Find(const HloToken& token) const {
    if (!token.reference) return {};
    if (const auto it = names.find(token.text); it != names.end()) return {it->second, -1};
    if (const auto it = module.by_name.find(token.text); it != module.by_name.end()) {
      return {-1, it->second};
    }
    return {};
  }
};

// What an instruction says around the place `at` of its text.
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

class Comparison {
 public:
  Comparison(const HloModule& left, const HloModule& right) : left_(left), right_(right) {}

  HloDifference Compare() {
    if (left_.entry >= 0 && right_.entry >= 0) {
      CompareComputations({left_.entry, right_.entry}, 0);
    } else {
      InOrderOfText();
    }
    if (difference_.outcome == HloOutcome::kDifferent) return difference_;
    if (left_.attributes != right_.attributes && !unfinished_) {
      AttributesDiffer();
    } else if (unfinished_) {
      difference_.outcome = HloOutcome::kEqualAsFarAsRead;
    } else {
      difference_.outcome = HloOutcome::kEqualButForNames;
    }
    return difference_;
  }

 private:
  void InOrderOfText() {
    unfinished_ = true;
    const size_t both = std::min(left_.computations.size(), right_.computations.size());
    for (size_t i = 0; i < both && !Found(); ++i) {
      CompareComputations({static_cast<int>(i), static_cast<int>(i)}, 0);
    }
  }

  bool Found() const { return difference_.outcome == HloOutcome::kDifferent; }

  // Every pair once: that keeps texts from costing more than their length.
  void CompareComputations(Pair pair, int depth) {
    if (depth > kMaxDepth || !Unseen(pair)) return;
    const Instructions left(left_, pair.first);
    const Instructions right(right_, pair.second);
    const size_t lefts = left.computation.instructions.size();
    const size_t rights = right.computation.instructions.size();
    for (size_t i = 0; i < std::max(lefts, rights); ++i) {
      if (i >= lefts || i >= rights) {
        Ended(left, right, i);
        return;
      }
      std::vector<Pair> called;
      if (!Same(left, right, i, called)) return;
      for (const Pair& callee : called) {
        CompareComputations(callee, depth + 1);
        if (Found()) return;
      }
    }
  }

  // A computation that is called from several places is the same one at each: none is
  // compared with more than a few of the other side.
  bool Unseen(const Pair& pair) {
    constexpr int kMostPartners = 4;
    if (!seen_.insert(pair).second) return false;
    const int partners = std::max(++left_partners_[pair.first], ++right_partners_[pair.second]);
    return partners <= kMostPartners;
  }

  // One of the two has no instruction `i`: that is a difference if all of it was read.
  void Ended(const Instructions& left, const Instructions& right, size_t i) {
    const bool left_ended = i >= left.computation.instructions.size();
    if (!(left_ended ? left : right).computation.complete) {
      unfinished_ = true;
      return;
    }
    Differs(left, right, i, 0, 0);
  }

  bool Same(const Instructions& left, const Instructions& right, size_t i,
            std::vector<Pair>& called) {
    HloTokens left_tokens(left.computation.instructions[i].text);
    HloTokens right_tokens(right.computation.instructions[i].text);
    for (;;) {
      const HloToken a = left_tokens.Next();
      const HloToken b = right_tokens.Next();
      if (a.text.empty() && b.text.empty()) return true;
      const Instructions::Referent from = left.Find(a);
      const Instructions::Referent to = right.Find(b);
      const bool calls = from.computation >= 0 && to.computation >= 0;
      if (calls) called.emplace_back(from.computation, to.computation);
      const bool refers = from.instruction >= 0 || to.instruction >= 0;
      if (calls || (refers ? from == to : a.text == b.text)) continue;
      // The last instruction of a text that was cut is no more than its beginning.
      if (IsCutOff(left, i, a) || IsCutOff(right, i, b)) {
        unfinished_ = true;
        return true;
      }
      Differs(left, right, i, a.begin, b.begin);
      return false;
    }
  }

  static bool IsCutOff(const Instructions& side, size_t i, const HloToken& token) {
    const std::vector<HloInstruction>& all = side.computation.instructions;
    return !side.computation.complete && i + 1 == all.size() &&
           token.begin + token.text.size() >= all[i].text.size();
  }

  void Differs(const Instructions& left, const Instructions& right, size_t i, size_t left_at,
               size_t right_at) {
    difference_.outcome = HloOutcome::kDifferent;
    difference_.position = static_cast<int64_t>(i) + 1;
    difference_.places = {PlaceOf(left, i, left_at), PlaceOf(right, i, right_at)};
  }

  static HloPlace PlaceOf(const Instructions& side, size_t i, size_t at) {
    const std::vector<HloInstruction>& all = side.computation.instructions;
    return {std::string(side.computation.name.substr(0, kMaxHloExcerptBytes)),
            i < all.size() ? Excerpt(all[i], at) : ""};
  }

  void AttributesDiffer() {
    difference_.outcome = HloOutcome::kDifferent;
    const auto [a, b] = std::mismatch(left_.attributes.begin(), left_.attributes.end(),
                                      right_.attributes.begin(), right_.attributes.end());
    const auto at = static_cast<size_t>(a - left_.attributes.begin());
    difference_.places = {HloPlace{"", Excerpt({"HloModule", left_.attributes}, at)},
                          HloPlace{"", Excerpt({"HloModule", right_.attributes}, at)}};
  }

  const HloModule& left_;
  const HloModule& right_;
  HloDifference difference_;
  absl::flat_hash_set<Pair> seen_;
  absl::flat_hash_map<int, int> left_partners_;  // of computations, how many so far
  absl::flat_hash_map<int, int> right_partners_;
  bool unfinished_ = false;  // something was not read to its end
};

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
  if (!whole && difference.outcome == HloOutcome::kEqualButForNames) {
    difference.outcome = HloOutcome::kEqualAsFarAsRead;
  }
  return difference;
}

}  // namespace rapideye::classifier
