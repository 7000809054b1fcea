#include "classifier/hlo/module.h"

#include <algorithm>
#include <utility>

namespace rapideye::classifier {
namespace {

constexpr std::string_view kModule = "HloModule ";
constexpr std::string_view kEntry = "ENTRY ";
constexpr std::string_view kRoot = "ROOT ";

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

void StripSpace(std::string_view& text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Up to the first of `ends`, without a percent sign in front.
std::string_view NameIn(std::string_view text, std::string_view ends) {
  TakePrefix(text, "%");
  return text.substr(0, text.find_first_of(ends));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<HloModule> Parse() {
    bool found = false;
    size_t begin = 0;
    while (begin < text_.size() && module_.complete) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::string_view line = text_.substr(begin, end - begin);
      if (found) {
        Take(line, begin);
      } else {
        found = TakeModule(line);
      }
      begin = end + 1;
    }
    if (!found) return std::nullopt;
    return std::move(module_);
  }

 private:
  bool TakeModule(std::string_view line) {
    if (!TakePrefix(line, kModule)) return false;
    StripSpace(line);
    module_.name = NameIn(line, ", ");
    const size_t comma = line.find(',');
    module_.attributes = comma == std::string_view::npos ? "" : line.substr(comma + 1);
    StripSpace(module_.attributes);
    return true;
  }

  void Take(std::string_view line, size_t begin) {
    if (line.empty()) return;
    if (!IsSpace(line.front())) {
      if (EndsComputation(line)) {
        End();
      } else if (!open_) {
        Begin(line);
      } else {
        GoOn(line, begin);
      }
      return;
    }
    if (open_) TakeInstruction(line, begin);
  }

  // "}", or "}, execution_thread=…". The attributes of a kernel may take several lines, of
  // which one begins with a brace.
  static bool EndsComputation(std::string_view line) {
    if (!TakePrefix(line, "}")) return false;
    StripSpace(line);
    return line.empty() || line.starts_with(", execution_thread=");
  }

  // "ENTRY %main.5 (p: f32[8]) -> f32[8] {", or "main.5 {".
  void Begin(std::string_view line) {
    StripSpace(line);
    if (!line.ends_with('{')) return;  // a table of files or stack frames
    const bool entry = TakePrefix(line, kEntry);
    HloComputation& computation = module_.computations.emplace_back();
    computation.name = NameIn(line, " (");
    const int index = static_cast<int>(module_.computations.size()) - 1;
    module_.by_name.try_emplace(computation.name, index);
    if (entry) module_.entry = index;
    open_ = true;
  }

  void End() {
    if (open_) module_.computations.back().complete = true;
    open_ = false;
  }

  // A line without "name = " goes on with the instruction before it.
  void TakeInstruction(std::string_view line, size_t begin) {
    const std::string_view whole = line;
    StripSpace(line);
    TakePrefix(line, kRoot);
    std::vector<HloInstruction>& instructions = module_.computations.back().instructions;
    const size_t equals = line.find(" = ");
    const std::string_view name = NameIn(line.substr(0, equals), " \"{}()[],");
    if (equals == std::string_view::npos || name.size() + 1 < equals || name.empty()) {
      return GoOn(whole, begin);
    }
    if (++count_ > kMaxHloInstructions) {
      module_.complete = false;
      return;
    }
    instructions.push_back({name, line.substr(equals + 3)});
  }

  // The line belongs to the instruction before it.
  void GoOn(std::string_view line, size_t begin) {
    std::vector<HloInstruction>& instructions = module_.computations.back().instructions;
    if (instructions.empty()) return;
    const auto from = static_cast<size_t>(instructions.back().text.data() - text_.data());
    instructions.back().text = text_.substr(from, begin + line.size() - from);
  }

  const std::string_view text_;
  HloModule module_;
  size_t count_ = 0;
  bool open_ = false;  // inside the last computation
};

}  // namespace

std::optional<HloModule> ParseHloModule(std::string_view text) { return Parser(text).Parse(); }

std::string_view HloModuleName(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!TakePrefix(line, kModule)) continue;
    StripSpace(line);
    return NameIn(line, ", ");
  }
  return "";
}

}  // namespace rapideye::classifier
