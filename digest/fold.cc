#include "digest/fold.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rapideye::digest {
namespace {

// Longer runs of digits are identifiers, not numbers, and stay text.
constexpr size_t kMaxDigits = 9;

struct Range {
  uint32_t first = 0;
  uint32_t last = 0;
  friend auto operator<=>(const Range&, const Range&) = default;
};
using Ranges = std::vector<Range>;  // sorted, disjoint, not adjacent

// "host-12-a3": texts {"host-", "-a", ""}, digits {"12", "3"}.
struct Tokens {
  std::vector<std::string> texts;
  std::vector<std::string> digits;
};

// The same names as a product: one set of numbers per place.
using Product = std::vector<Ranges>;

bool Foldable(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' || c == ':';
  });
}

Tokens Split(std::string_view name) {
  Tokens tokens;
  tokens.texts.emplace_back();
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && absl::ascii_isdigit(static_cast<unsigned char>(name[end]))) ++end;
    if (end > i && end - i <= kMaxDigits) {
      tokens.digits.emplace_back(name.substr(i, end - i));
      tokens.texts.emplace_back();
    } else {
      end = std::max(end, i + 1);
      tokens.texts.back().append(name.substr(i, end - i));
    }
    i = end;
  }
  return tokens;
}

Ranges Union(Ranges all) {
  std::sort(all.begin(), all.end());
  Ranges merged;
  for (const Range& range : all) {
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

// Joins products that differ in one place only, last place first: hosts are
// usually numbered within a slice, slices within a pool.
void Merge(std::vector<Product>& products) {
  if (products.empty()) return;
  for (size_t place = products[0].size(); place-- > 0;) {
    std::map<Product, Ranges> by_rest;
    for (Product& product : products) {
      Ranges here = std::move(product[place]);
      product[place].clear();
      Ranges& joined = by_rest[product];
      joined.insert(joined.end(), here.begin(), here.end());
    }
    products.clear();
    for (auto& [rest, ranges] : by_rest) {
      Product product = rest;
      product[place] = Union(std::move(ranges));
      products.push_back(std::move(product));
    }
  }
}

std::string Number(uint32_t value, size_t width) {
  const std::string digits = absl::StrCat(value);
  return width > digits.size() ? std::string(width - digits.size(), '0') + digits : digits;
}

std::string Spelled(const Ranges& ranges, size_t width) {
  const bool single = ranges.size() == 1 && ranges[0].first == ranges[0].last;
  if (single) return Number(ranges[0].first, width);
  std::string out = "[";
  for (const Range& range : ranges) {
    if (out.size() > 1) out += ',';
    out += Number(range.first, width);
    if (range.last > range.first) absl::StrAppend(&out, "-", Number(range.last, width));
  }
  return out + "]";
}

size_t CountOf(const Product& product) {
  size_t count = 1;
  for (const Ranges& ranges : product) {
    size_t here = 0;
    for (const Range& range : ranges) here += range.last - range.first + 1;
    count *= here;
  }
  return count;
}

// Names of one shape: the same texts and, at zero-padded places, widths.
struct Shape {
  std::vector<std::string> texts;
  std::vector<size_t> widths;  // 0: not padded
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

ListItem Entry(const Shape& shape, const Product& product) {
  ListItem entry{shape.texts[0], CountOf(product)};
  for (size_t i = 0; i < product.size(); ++i) {
    absl::StrAppend(&entry.text, Spelled(product[i], shape.widths[i]), shape.texts[i + 1]);
  }
  if (entry.count > 1) absl::StrAppend(&entry.text, " (", entry.count, ")");
  return entry;
}

// Splits names of the same texts by the width of their padded places.
std::map<Shape, std::vector<Product>> ByShape(const std::vector<std::string>& texts,
                                              const std::vector<std::vector<std::string>>& names) {
  std::vector<bool> padded(texts.size() - 1, false);
  for (const auto& digits : names) {
    for (size_t i = 0; i < digits.size(); ++i) {
      if (digits[i].size() > 1 && digits[i][0] == '0') padded[i] = true;
    }
  }
  std::map<Shape, std::vector<Product>> shapes;
  for (const auto& digits : names) {
    Shape shape{texts, std::vector<size_t>(digits.size(), 0)};
    Product product(digits.size());
    for (size_t i = 0; i < digits.size(); ++i) {
      if (padded[i]) shape.widths[i] = digits[i].size();
      uint32_t value = 0;
      (void)absl::SimpleAtoi(digits[i], &value);  // at most kMaxDigits digits: fits
      product[i] = {Range{value, value}};
    }
    shapes[std::move(shape)].push_back(std::move(product));
  }
  return shapes;
}

}  // namespace

std::vector<ListItem> FoldNames(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());

  std::vector<ListItem> folded;
  std::map<std::vector<std::string>, std::vector<std::vector<std::string>>> by_texts;
  for (std::string& name : names) {
    if (!Foldable(name)) {
      folded.push_back({std::move(name), 1});
      continue;
    }
    Tokens tokens = Split(name);
    by_texts[std::move(tokens.texts)].push_back(std::move(tokens.digits));
  }
  for (const auto& [texts, digits] : by_texts) {
    for (auto& [shape, products] : ByShape(texts, digits)) {
      Merge(products);
      for (const Product& product : products) folded.push_back(Entry(shape, product));
    }
  }
  std::sort(folded.begin(), folded.end(), [](const ListItem& a, const ListItem& b) {
    return a.count != b.count ? a.count > b.count : a.text < b.text;
  });
  return folded;
}

}  // namespace rapideye::digest
