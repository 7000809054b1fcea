#include "proto/common/text/likeness.h"

#include <algorithm>

namespace rapideye::text {
namespace {

constexpr size_t kMaxBytes = 128;

}  // namespace

// Three rows of the usual table are enough: a swap looks two back.
size_t EditDistance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxBytes);
  b = b.substr(0, kMaxBytes);
  std::vector<size_t> before;
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = above;
    above = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string ProbablyMeant(const std::string& wanted, const std::vector<std::string>& known) {
  std::string best;
  size_t nearest = std::max<size_t>(wanted.size() / 3, 1) + 1;
  for (const std::string& name : known) {
    const size_t distance = EditDistance(wanted, name);
    if (distance >= nearest) continue;
    nearest = distance;
    best = name;
  }
  return best;
}

}  // namespace rapideye::text
