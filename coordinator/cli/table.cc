#include "coordinator/cli/table.h"

#include <algorithm>

#include "proto/common/text/safe_text.h"
#include "proto/common/text/utf8.h"

namespace rapideye::cli {
namespace {

constexpr size_t kGap = 2;

// Counts characters, not bytes.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !text::ContinuesCharacter(c); }));
}

}  // namespace

std::string Shown(std::string_view text) { return text::EscapeText(text, text::kMaxNameBytes); }

void Table::Add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Shown(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::Text(std::string_view indent) const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    text += indent;
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - Width(row[i]) + kGap, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace rapideye::cli
