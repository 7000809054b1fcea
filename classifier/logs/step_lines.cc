#include "classifier/logs/step_lines.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

// A number of a line that may be its step.
struct Candidate {
  enum class Kind { kNone, kBracket, kFraction, kWord };
  Kind kind = Kind::kNone;
  size_t begin = 0;  // of the number, or of the bracket around it
  size_t end = 0;
  int64_t number = 0;
  std::optional<int64_t> total;
};

char At(absl::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

char LowerAt(absl::string_view text, size_t at) { return absl::ascii_tolower(At(text, at)); }

size_t SkipBlanks(absl::string_view line, size_t at) {
  while (At(line, at) == ' ' || At(line, at) == '\t') ++at;
  return at;
}

// Blanks, punctuation and colours between a word and its number.
size_t SkipSeparators(absl::string_view line, size_t at) {
  constexpr size_t kMost = 24;
  for (const size_t end = at + kMost; at < end; ++at) {
    if (At(line, at) == '\x1b') {
      while (at < line.size() && line[at] != 'm') ++at;
    } else if (at >= line.size() || !absl::StrContains(" \t:=#'\"([|<>", line[at])) {
      break;
    }
  }
  return at;
}

// Reads the number at `at`, "1,234" included, and moves `at` behind it.
std::optional<int64_t> TakeNumber(absl::string_view line, size_t& at) {
  const size_t begin = at;
  int64_t number = 0;
  const auto take_digits = [&] {
    for (; absl::ascii_isdigit(At(line, at)); ++at) {
      number = std::min(number * 10 + (line[at] - '0'), kMaxStep);
    }
  };
  take_digits();
  if (at == begin) return std::nullopt;
  const auto is_group = [&] {
    return At(line, at) == ',' && absl::ascii_isdigit(At(line, at + 1)) &&
           absl::ascii_isdigit(At(line, at + 2)) && absl::ascii_isdigit(At(line, at + 3)) &&
           !absl::ascii_isdigit(At(line, at + 4));
  };
  while (at - begin <= 3 ? number > 0 && is_group() : At(line, at - 4) == ',' && is_group()) {
    ++at;
    take_digits();
  }
  if (number >= kMaxStep) return std::nullopt;
  return number;
}

// True if the text behind a number makes it part of a larger word, a fraction, a time or
// a quantity with a unit.
bool IsQuantity(absl::string_view line, size_t at) {
  const char next = At(line, at);
  if (absl::ascii_isalnum(next) || next == '_' || next == '%') return true;
  if ((next == '.' || next == ':' || next == '-') && absl::ascii_isdigit(At(line, at + 1))) {
    return true;
  }
  const size_t word = next == ' ' ? at + 1 : at;
  size_t end = word;
  while (absl::ascii_isalpha(At(line, end))) ++end;
  static constexpr std::array<absl::string_view, 12> kUnits = {
      "ms", "us", "s", "sec", "secs", "second", "seconds", "min", "mins", "minutes", "h", "hours"};
  return std::find(kUnits.begin(), kUnits.end(), line.substr(word, end - word)) != kUnits.end();
}

// Reads "/ 1000" or "of 1000" behind a number, and moves `at` behind it.
std::optional<int64_t> TakeTotal(absl::string_view line, size_t& at) {
  size_t behind = SkipBlanks(line, at);
  if (At(line, behind) == '/') {
    behind = SkipBlanks(line, behind + 1);
  } else if (absl::StartsWith(line.substr(std::min(behind, line.size())), "of ")) {
    behind = SkipBlanks(line, behind + 3);
  } else {
    return std::nullopt;
  }
  const std::optional<int64_t> total = TakeNumber(line, behind);
  if (!total.has_value() || IsQuantity(line, behind)) return std::nullopt;
  at = behind;
  return total;
}

// The end of "step", "steps", "iter", "iters", "iteration" or "iterations", whose 't' is at
// `at`; 0: there is no such word.
size_t WordEnd(absl::string_view line, size_t at) {
  if (at == 0 || LowerAt(line, at + 1) != 'e') return 0;
  const char before = LowerAt(line, at - 1);
  const char last = LowerAt(line, at + 2);
  size_t end = at + 3;
  if (before == 'i' && last == 'r') {
    if (at >= 2 && absl::ascii_isalpha(line[at - 2])) return 0;  // "arbiter"
    if (absl::StartsWithIgnoreCase(line.substr(std::min(end, line.size())), "ation")) end += 5;
  } else if (before != 's' || last != 'p') {
    return 0;
  }
  if (LowerAt(line, end) == 's') ++end;
  const char next = At(line, end);
  return absl::ascii_isalnum(next) || next == '_' || next == '/' || next == '-' ? 0 : end;
}

void TryWord(absl::string_view line, size_t at, Candidate& best) {
  const size_t word = WordEnd(line, at);
  if (word == 0) return;
  size_t end = SkipSeparators(line, word);
  if (end == word) return;
  const size_t begin = end;
  const std::optional<int64_t> number = TakeNumber(line, end);
  if (!number.has_value()) return;
  const std::optional<int64_t> total = TakeTotal(line, end);
  if (IsQuantity(line, end)) return;
  best = {Candidate::Kind::kWord, begin, end, *number, total};
}

// True if the text holds only blanks and colours.
bool IsBlank(absl::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if (text[i] != ' ' && text[i] != '\t') {
      return false;
    }
  }
  return true;
}

// " (12%)]" behind the total, as in PyTorch's examples: "[640/60000 (1%)]".
bool IsShareInBracket(absl::string_view text) {
  if (!absl::StartsWith(text, " (")) return false;
  const size_t end = text.find_first_not_of(" .0123456789", 2);
  return end > 2 && absl::StartsWith(text.substr(std::min(end, text.size())), "%)]");
}

// The bar of Keras behind the total: " [==>.....]", or thick lines in colours.
bool IsBar(absl::string_view line, size_t at) {
  if (absl::StartsWith(line.substr(at), " [")) {
    const char first = At(line, at + 2);
    return first == '=' || first == '>' || (first == '.' && At(line, at + 3) == '.');
  }
  const size_t bar = std::min(SkipSeparators(line, at), line.size());
  return absl::StartsWith(line.substr(bar), "\u2501");
}

// "[ 120/1000]", "(4/10)", "[640/60000 (1%)]", or a progress bar's "| 50/1000 [00:10<03:10]" or
// "120/1000 [==>....]"; the slash is at `at`.
void TryFraction(absl::string_view line, size_t at, Candidate& best) {
  size_t begin = at;
  while (begin > 0 && absl::ascii_isdigit(line[begin - 1])) --begin;
  if (begin == at) return;
  size_t opening = begin;
  while (opening > 0 && line[opening - 1] == ' ') --opening;
  const char before = opening == 0 ? '\0' : line[opening - 1];
  size_t end = begin;
  const std::optional<int64_t> number = TakeNumber(line, end);
  if (!number.has_value() || end != at) return;
  const std::optional<int64_t> total = TakeTotal(line, end);
  if (!total.has_value() || At(line, end) == '/') return;
  const bool enclosed = (before == '[' && At(line, end) == ']') ||
                        (before == '(' && At(line, end) == ')') ||
                        (before == '[' && IsShareInBracket(line.substr(end))) ||
                        (IsBlank(line.substr(0, begin)) && IsBar(line, end)) ||
                        (before == '|' && absl::StartsWith(line.substr(end), " ["));
  if (enclosed) best = {Candidate::Kind::kFraction, begin, end, *number, total};
}

// "120it [00:24,  5.01it/s]", a progress bar that knows no total; its "i" is at `at`.
void TryCount(absl::string_view line, size_t at, Candidate& best) {
  if (!absl::StartsWith(line.substr(at), "it [") || !absl::ascii_isdigit(At(line, at + 4))) return;
  size_t begin = at;
  while (begin > 0 && absl::ascii_isdigit(line[begin - 1])) --begin;
  if (begin > 0 && line[begin - 1] != ' ') return;
  size_t end = begin;
  const std::optional<int64_t> number = TakeNumber(line, end);
  if (!number.has_value() || end != at) return;
  best = {Candidate::Kind::kFraction, begin, end, *number, std::nullopt};
}

// "[120] loss=2.1, …", as Flax's and T5X's writers of metrics have it.
void TryBracket(absl::string_view line, size_t at, Candidate& best) {
  size_t end = at + 1;
  const std::optional<int64_t> number = TakeNumber(line, end);
  if (!number.has_value() || !absl::StartsWith(line.substr(end), "] ")) return;
  size_t name = end + 2;
  while (name < line.size() && !absl::ascii_isspace(line[name]) && line[name] != '=') ++name;
  if (name == end + 2 || At(line, name) != '=') return;
  best = {Candidate::Kind::kBracket, at, end, *number, std::nullopt};
}

// The numbers of a line that may be its step. The first may be another one: "of 1000 steps".
class Candidates {
 public:
  explicit Candidates(absl::string_view line) {
    Candidate without_word;
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (c == 't' || c == 'T') {
        Candidate word;
        if (count_ < kMostWords) TryWord(line, i, word);
        if (word.kind != Candidate::Kind::kNone) found_[count_++] = word;
      } else if (c == '/' && without_word.kind < Candidate::Kind::kFraction) {
        TryFraction(line, i, without_word);
      } else if (c == 'i' && without_word.kind < Candidate::Kind::kFraction) {
        TryCount(line, i, without_word);
      } else if (c == '[' && without_word.kind < Candidate::Kind::kBracket) {
        TryBracket(line, i, without_word);
      }
    }
    if (without_word.kind != Candidate::Kind::kNone) found_[count_++] = without_word;
  }

  const Candidate* begin() const { return found_.data(); }
  const Candidate* end() const { return found_.data() + count_; }

 private:
  static constexpr size_t kMostWords = 3;

  std::array<Candidate, kMostWords + 1> found_;
  size_t count_ = 0;
};

class Hash {
 public:
  explicit Hash(uint64_t seed) : value_(seed ^ 0xcbf29ce484222325) {}
  void Add(char c) { value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
  uint64_t value() const { return value_ == 0 ? 1 : value_; }

 private:
  uint64_t value_;
};

// A hash of the text before the number, without varying parts (times, other
// numbers, the bar of a progress bar), and of the word behind it: "Step 1: loading data" and
// "Step 2: building model" have different shapes.
uint64_t ShapeOf(absl::string_view line, const Candidate& candidate, uint64_t log) {
  Hash hash(log);
  hash.Add(static_cast<char>(candidate.kind));
  for (const char c : line.substr(0, candidate.begin)) {
    if (absl::ascii_isalpha(c) || (absl::ascii_ispunct(c) && !absl::StrContains(".:-+#", c))) {
      hash.Add(c);
    }
  }
  if (candidate.kind == Candidate::Kind::kFraction) return hash.value();
  constexpr size_t kNear = 24;
  const absl::string_view behind = line.substr(candidate.end, kNear);
  const auto* const word = std::find_if(behind.begin(), behind.end(), absl::ascii_isalpha);
  for (const auto* c = word; c != behind.end() && absl::ascii_isalpha(*c); ++c) hash.Add(*c);
  return hash.value();
}

template <size_t n>
bool HoldsAny(absl::string_view line, const std::array<absl::string_view, n>& words) {
  const std::string lower = absl::AsciiStrToLower(line);
  return std::any_of(words.begin(), words.end(),
                     [&](absl::string_view word) { return absl::StrContains(lower, word); });
}

// True if the words before the number show an evaluation or a checkpoint.
bool IsAuxiliary(absl::string_view before) {
  static constexpr std::array<absl::string_view, 6> kWords = {"eval",       "valid", "test",
                                                              "checkpoint", "sav",   "restor"};
  return HoldsAny(before, kWords);
}

// True for counts that grow while the loop makes no progress.
bool CountsWaiting(absl::string_view before) {
  static constexpr std::array<absl::string_view, 6> kWords = {"retry",   "retri", "attempt",
                                                              "waiting", "poll",  "heartbeat"};
  return HoldsAny(before, kWords);
}

}  // namespace

bool StepLines::Shape::TellsSteps() const {
  return !ignored && rises >= kLeastRises && rises >= kRisesPerFall * falls;
}

StepLines::Shape& StepLines::Find(uint64_t hash, bool& is_new) {
  const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                  [hash](const Shape& shape) { return shape.hash == hash; });
  is_new = found == shapes_.end();
  if (!is_new) return *found;
  if (shapes_.size() < kMaxStepShapes) return shapes_.emplace_back();
  Shape& oldest =
      *std::min_element(shapes_.begin(), shapes_.end(),
                        [](const Shape& a, const Shape& b) { return a.last_rise < b.last_rise; });
  oldest = Shape{};
  return oldest;
}

void StepLines::Take(absl::string_view line, uint64_t log) {
  line = line.substr(0, kStepLineBytes);
  for (const Candidate& candidate : Candidates(line)) {
    ++lines_;
    const uint64_t hash = ShapeOf(line, candidate, log);
    bool is_new = false;
    Shape& shape = Find(hash, is_new);
    if (is_new) {
      const absl::string_view before = line.substr(0, candidate.begin);
      shape.hash = hash;
      shape.number = candidate.number;
      shape.ignored = CountsWaiting(before);
      shape.auxiliary = IsAuxiliary(before);
      shape.last_rise = lines_;
      shape.text = std::hash<std::string_view>()({line.data(), line.size()});
      continue;
    }
    shape.Compare(candidate.number, std::hash<std::string_view>()({line.data(), line.size()}));
    if (shape.Count(candidate.number, candidate.total, lines_)) {
      ++advances_;
      ChooseMain(shape);
    }
  }
}

bool StepLines::Shape::Count(int64_t next, std::optional<int64_t> total, uint64_t line) {
  if (next > number) {
    number = next;
    ++rises;
    last_rise = line;
    // Loops count from 0 or from 1.
    complete = total.has_value() && next + 1 >= *total;
    return TellsSteps();
  }
  if (next < number - (complete ? 0 : kStepTolerance)) {
    number = next;
    ++falls;
    cycled = cycled || complete;
    complete = false;
  }
  return false;
}

void StepLines::Shape::Compare(int64_t next, uint64_t next_text) {
  if (next > number) {
    lines = 1;
    is_repeated = false;
  } else {
    ++lines;
    const bool again = !is_repeated && (next_text != text || lines > 2);
    repeated += again ? 1 : 0;
    is_repeated = is_repeated || again;
  }
  text = next_text;
}

bool StepLines::AreOfSeveral() const {
  return std::any_of(shapes_.begin(), shapes_.end(), [](const Shape& shape) {
    return shape.TellsSteps() && !shape.auxiliary && shape.repeated >= kLeastRepeated &&
           2 * shape.repeated >= shape.rises;
  });
}

void StepLines::ChooseMain(const Shape& risen) {
  rises_without_main_ = risen.hash == main_ ? 0 : rises_without_main_ + 1;
  const Shape* main = Main();
  const bool outranked = main == nullptr || (main->auxiliary && !risen.auxiliary);
  if (!outranked && rises_without_main_ < kRisesToGiveWay) return;
  const Shape* best = Best();
  main_ = best == nullptr ? 0 : best->hash;
  rises_without_main_ = 0;
}

const StepLines::Shape* StepLines::Main() const {
  const auto main = std::find_if(shapes_.begin(), shapes_.end(), [this](const Shape& shape) {
    return shape.hash == main_ && shape.Expected();
  });
  return main == shapes_.end() ? nullptr : &*main;
}

const StepLines::Shape* StepLines::Best() const {
  const Shape* best = nullptr;
  for (const Shape& shape : shapes_) {
    if (!shape.Expected()) continue;
    // Prefers the shape that grew last, and shapes of training to auxiliary ones.
    const bool better = best == nullptr || (best->auxiliary && !shape.auxiliary) ||
                        (best->auxiliary == shape.auxiliary && best->last_rise < shape.last_rise);
    if (better) best = &shape;
  }
  return best;
}

StepReading StepLines::Read() const {
  StepReading reading{.step = std::nullopt, .advances = advances_};
  const Shape* told = Main();
  if (told == nullptr) told = Best();
  if (told != nullptr) reading.step = told->number;
  return reading;
}

}  // namespace rapideye::logs
