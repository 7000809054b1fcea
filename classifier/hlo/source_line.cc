#include "classifier/hlo/source_line.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "classifier/hlo/instruction.h"
#include "classifier/hlo/scan.h"

namespace rapideye::classifier {
namespace {

constexpr size_t kMaxFileBytes = 512;

std::optional<int64_t> NumberAt(std::string_view text) {
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// The number behind "key=".
std::optional<int64_t> NumberOf(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  return NumberAt(text.substr(at + key.size()));
}

}  // namespace

std::string ShortSourceLine(const HloSourceLine& source) {
  if (!source.known()) return "";
  const size_t slash = source.file.rfind('/');
  return absl::StrCat(slash == std::string::npos ? source.file : source.file.substr(slash + 1), ":",
                      source.line);
}

HloSourceLines::HloSourceLines(const HloModule& module) {
  std::string_view rest = module.tables;
  std::string_view table;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    if (NumberAt(line).has_value()) {
      TakeLine(table, line);
    } else {
      table = line;
    }
  }
}

void HloSourceLines::TakeLine(std::string_view table, std::string_view line) {
  const int64_t id = *NumberAt(line);
  line.remove_prefix(std::min(line.find(' '), line.size()));
  if (table == "FileNames") {
    const size_t quote = line.find('"');
    if (quote == std::string_view::npos) return;
    const size_t end = EndOfHloString(line, quote);
    files_[id] = line.substr(quote + 1, end - quote - 2).substr(0, kMaxFileBytes);
  } else if (table == "FileLocations") {
    locations_[id] = {NumberOf(line, "file_name_id=").value_or(0),
                      NumberOf(line, " line=").value_or(0)};
  } else if (table == "StackFrames") {
    frames_[id] = NumberOf(line, "file_location_id=").value_or(0);
  }
}

HloSourceLine HloSourceLines::Of(std::string_view instruction) const {
  constexpr std::string_view kMetadata = " metadata={";  // kernel_metadata is another
  const size_t at = instruction.find(kMetadata);
  if (at == std::string_view::npos) return {};
  const std::string_view metadata = InHloBrackets(instruction.substr(at + kMetadata.size() - 1));
  if (const auto frame = NumberOf(metadata, "stack_frame_id=")) {
    const auto location_id = frames_.find(*frame);
    if (location_id == frames_.end()) return {};
    const auto location = locations_.find(location_id->second);
    if (location == locations_.end()) return {};
    const auto file = files_.find(location->second.file);
    if (file == files_.end()) return {};
    return {std::string(file->second), location->second.line};
  }
  return {std::string(QuotedHloValue(metadata, "source_file").substr(0, kMaxFileBytes)),
          NumberOf(metadata, "source_line=").value_or(0)};
}

}  // namespace rapideye::classifier
