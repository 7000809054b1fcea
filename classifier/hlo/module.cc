#include "classifier/hlo/module.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "classifier/hlo/scan.h"

namespace rapideye::classifier {
namespace {

constexpr std::string_view kModule = "HloModule ";
constexpr std::string_view kEntry = "ENTRY ";
constexpr std::string_view kRoot = "ROOT ";
constexpr std::string_view kThread = "execution_thread=\"";
// The tables that may stand in front of the computations, each with its lines behind it.
constexpr std::array<std::string_view, 4> kTables = {"FileNames", "FunctionNames", "FileLocations",
                                                     "StackFrames"};

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

// The name up to the first of `ends`, without a percent sign in front.
std::string_view NameIn(std::string_view text, std::string_view ends) {
  TakePrefix(text, "%");
  return text.substr(0, text.find_first_of(ends));
}

// The line at `at`; empty at or behind the end of the text.
std::string_view LineAt(std::string_view text, size_t at) {
  if (at >= text.size()) return "";
  return text.substr(at, std::min(text.find('\n', at), text.size()) - at);
}

// "  %name = " or "  ROOT %name = ", or a computation's first line: here an instruction without
// closing brackets must have ended. Only for the long form, which marks names.
bool BeginsAnother(std::string_view line) {
  if (line.starts_with("%") || line.starts_with(kEntry)) {
    StripSpace(line);
    return line.ends_with('{');
  }
  if (!TakePrefix(line, "  ")) return false;
  TakePrefix(line, kRoot);
  if (!TakePrefix(line, "%")) return false;
  return line.substr(std::min(line.find(' '), line.size())).starts_with(" = ");
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<HloModule> Parse();

 private:
  bool TakeModule(size_t& at);

  // The end of the line on which all brackets and strings are closed; at the latest the line before
  // another instruction begins.
  size_t EndOfLogicalLine(size_t begin);

  // Scans up to `end`, or behind a string that runs past `end`; counts open brackets. Stops at a
  // closing bracket without an opening one.
  size_t ScanLine(size_t at, size_t end, int& depth) const;
  size_t Misunderstood(size_t end);

  size_t LineEnd(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

  // Takes a line between computations: the first line of a computation, or a line of a table.
  size_t TakeOutside(size_t at);

  // A table's name, or its line: "4 {file_name_id=1 …}", '1 "train.py"'.
  static bool IsOfTable(std::string_view line);

  // "ENTRY %main.5 (p: f32[8]) -> f32[8] {", or "main.5 {".
  void Begin(std::string_view line);
  size_t TakeInComputation(size_t at);

  // "}", or "}, execution_thread=…".
  void End(std::string_view line);
  size_t TakeInstruction(size_t at);

  const std::string_view text_;
  HloModule module_;
  size_t count_ = 0;
  bool open_ = false;    // inside the last computation
  bool broken_ = false;  // a part of it was not understood
  bool full_ = false;
  bool understood_ = true;
};

std::optional<HloModule> Parser::Parse() {
  size_t at = 0;
  if (!TakeModule(at)) return std::nullopt;
  const size_t head = at;
  while (at < text_.size() && !full_) {
    at = open_ ? TakeInComputation(at) : TakeOutside(at);
    if (module_.computations.empty()) module_.tables = text_.substr(head, at - head);
  }
  module_.complete = understood_ && !open_ && !full_ && module_.entry >= 0;
  return std::move(module_);
}

bool Parser::TakeModule(size_t& at) {
  while (at < text_.size() && !LineAt(text_, at).starts_with(kModule)) {
    at += LineAt(text_, at).size() + 1;
  }
  if (at >= text_.size()) return false;
  const size_t end = EndOfLogicalLine(at);
  std::string_view line = text_.substr(at + kModule.size(), end - at - kModule.size());
  StripSpace(line);
  module_.name = NameIn(line, ", ");
  const size_t comma = line.find(',');
  module_.attributes = comma == std::string_view::npos ? "" : line.substr(comma + 1);
  StripSpace(module_.attributes);
  at = end + 1;
  return true;
}

size_t Parser::EndOfLogicalLine(size_t begin) {
  int depth = 0;
  for (size_t at = begin;;) {
    const size_t line_end = LineEnd(at);
    const size_t reached = ScanLine(at, line_end, depth);
    if (depth < 0) return Misunderstood(LineEnd(reached));
    if (reached > line_end) {  // a string runs over several lines
      for (size_t end = line_end; end < std::min(reached, text_.size()); end = LineEnd(end + 1)) {
        if (BeginsAnother(LineAt(text_, end + 1))) return Misunderstood(end);
      }
      at = reached;
      if (at >= text_.size()) return Misunderstood(text_.size());
      continue;
    }
    if (depth == 0) return line_end;
    at = line_end + 1;
    if (at >= text_.size() || BeginsAnother(LineAt(text_, at))) return Misunderstood(line_end);
  }
}

size_t Parser::ScanLine(size_t at, size_t end, int& depth) const {
  while (at < end && depth >= 0) {
    switch (KindOf(text_[at])) {
      case HloCharacter::kQuote: {
        const size_t behind = EndOfHloString(text_, at);
        // A string that is never closed ends behind the text.
        at = behind >= text_.size() && text_.back() != '"' ? text_.size() + 1 : behind;
        continue;
      }
      case HloCharacter::kSlash:
        if (text_.substr(at, 2) == "/*") {
          const size_t close = text_.substr(0, end).find("*/", at + 2);
          if (close != std::string_view::npos) at = close + 1;
        }
        break;
      case HloCharacter::kOpens:
        ++depth;
        break;
      case HloCharacter::kCloses:
        --depth;
        break;
      case HloCharacter::kOther:
        break;
    }
    ++at;
  }
  return at;
}

size_t Parser::Misunderstood(size_t end) {
  understood_ = false;
  return end;
}

size_t Parser::TakeOutside(size_t at) {
  std::string_view line = LineAt(text_, at);
  const size_t next = at + line.size() + 1;
  if (line.empty() || IsSpace(line.front())) {
    StripSpace(line);
    understood_ = understood_ && line.empty();
    return next;
  }
  StripSpace(line);
  if (line.ends_with('{')) {
    Begin(line);
  } else if (!IsOfTable(line)) {
    understood_ = false;
  }
  return next;
}

bool Parser::IsOfTable(std::string_view line) {
  return absl::ascii_isdigit(static_cast<unsigned char>(line.front())) ||
         std::find(kTables.begin(), kTables.end(), line) != kTables.end();
}

void Parser::Begin(std::string_view line) {
  const bool entry = TakePrefix(line, kEntry);
  HloComputation& computation = module_.computations.emplace_back();
  computation.name = NameIn(line, " (");
  const int index = static_cast<int>(module_.computations.size()) - 1;
  module_.by_name.try_emplace(computation.name, index);
  if (entry) module_.entry = index;
  open_ = true;
  broken_ = false;
}

size_t Parser::TakeInComputation(size_t at) {
  std::string_view line = LineAt(text_, at);
  const size_t next = at + line.size() + 1;
  if (line.starts_with('}')) {
    End(line);
    return next;
  }
  if (line.starts_with('%') || line.starts_with(kEntry)) {
    if (BeginsAnother(line)) {  // the end of the previous instruction is missing
      understood_ = false;
      open_ = false;
      return at;
    }
  }
  StripSpace(line);
  if (line.empty()) return next;
  return TakeInstruction(at);
}

void Parser::End(std::string_view line) {
  HloComputation& computation = module_.computations.back();
  computation.complete = !broken_;
  const size_t thread = line.find(kThread);
  if (thread != std::string_view::npos) {
    computation.execution_thread = NameIn(line.substr(thread + kThread.size()), "\"");
  }
  open_ = false;
}

size_t Parser::TakeInstruction(size_t at) {
  const bool before = understood_;
  const size_t end = EndOfLogicalLine(at);
  if (before && !understood_) broken_ = true;
  std::string_view line = text_.substr(at, end - at);
  StripSpace(line);
  TakePrefix(line, kRoot);
  const size_t equals = line.find(" = ");
  const std::string_view name = NameIn(line.substr(0, equals), " \"{}()[],");
  if (equals == std::string_view::npos || name.size() + 1 < equals || name.empty()) {
    broken_ = true;
    understood_ = false;
  } else if (++count_ > kMaxHloInstructions) {
    full_ = true;
  } else {
    module_.computations.back().instructions.push_back({name, line.substr(equals + 3)});
  }
  return end + 1;
}

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
