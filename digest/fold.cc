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

// Longer numbers are identifiers and stay text. Seven digits, decimal or
// hexadecimal, fit 32 bits.
constexpr size_t kMaxDigits = 7;

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

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsHexLetter(char c) { return c >= 'a' && c <= 'f'; }

// Position behind the number that begins at `at`; `at` if none does. With `hex`, a
// whole alphanumeric word such as "000a" is a number, too.
size_t NumberEnd(std::string_view name, size_t at, bool hex) {
  if (hex && (at == 0 || !absl::ascii_isalnum(static_cast<unsigned char>(name[at - 1])))) {
    size_t end = at;
    bool digit = false;
    for (; end < name.size() && (IsDigit(name[end]) || IsHexLetter(name[end])); ++end) {
      digit = digit || IsDigit(name[end]);
    }
    const bool whole =
        end == name.size() || !absl::ascii_isalnum(static_cast<unsigned char>(name[end]));
    if (digit && whole && end - at <= kMaxDigits) return end;
  }
  size_t end = at;
  while (end < name.size() && IsDigit(name[end])) ++end;
  return end;
}

Tokens Split(std::string_view name, bool hex) {
  Tokens tokens;
  tokens.texts.emplace_back();
  for (size_t i = 0; i < name.size();) {
    size_t end = NumberEnd(name, i, hex);
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

// The format of the numbers at one place.
struct Notation {
  size_t width = 0;  // 0: not padded
  bool hex = false;
  friend auto operator<=>(const Notation&, const Notation&) = default;
};

std::string Number(uint32_t value, Notation notation) {
  const std::string digits = notation.hex ? absl::StrCat(absl::Hex(value)) : absl::StrCat(value);
  if (notation.width <= digits.size()) return digits;
  return std::string(notation.width - digits.size(), '0') + digits;
}

std::string Spelled(const Ranges& ranges, Notation notation) {
  const bool single = ranges.size() == 1 && ranges[0].first == ranges[0].last;
  if (single) return Number(ranges[0].first, notation);
  std::string out = "[";
  for (const Range& range : ranges) {
    if (out.size() > 1) out += ',';
    out += Number(range.first, notation);
    if (range.last > range.first) absl::StrAppend(&out, "-", Number(range.last, notation));
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

// Names of one shape: the same texts, their numbers written alike.
struct Shape {
  std::vector<std::string> texts;
  std::vector<Notation> notations;
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

text::ListItem Entry(const Shape& shape, const Product& product) {
  text::ListItem entry{shape.texts[0], CountOf(product)};
  for (size_t i = 0; i < product.size(); ++i) {
    absl::StrAppend(&entry.text, Spelled(product[i], shape.notations[i]), shape.texts[i + 1]);
  }
  if (entry.count > 1) absl::StrAppend(&entry.text, " (", entry.count, ")");
  return entry;
}

using NumbersOfName = std::vector<std::string>;

// The numbers at one place, of all names with the same texts.
struct Place {
  bool padded = false;  // some number begins with a zero
  bool hex = false;     // some number has a letter
};

std::vector<Place> PlacesOf(const std::vector<NumbersOfName>& names) {
  std::vector<Place> places(names[0].size());
  for (const NumbersOfName& numbers : names) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      const std::string& number = numbers[i];
      if (number.size() > 1 && number[0] == '0') places[i].padded = true;
      if (std::any_of(number.begin(), number.end(), IsHexLetter)) places[i].hex = true;
    }
  }
  return places;
}

// Splits names of the same texts by the width of their padded places.
std::map<Shape, std::vector<Product>> ByShape(const std::vector<std::string>& texts,
                                              const std::vector<NumbersOfName>& names) {
  const std::vector<Place> places = PlacesOf(names);
  std::map<Shape, std::vector<Product>> shapes;
  for (const NumbersOfName& numbers : names) {
    Shape shape{texts, std::vector<Notation>(numbers.size())};
    Product product(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (places[i].padded) shape.notations[i].width = numbers[i].size();
      shape.notations[i].hex = places[i].hex;
      uint32_t value = 0;  // bounded in length: fits
      (void)(places[i].hex ? absl::SimpleHexAtoi(numbers[i], &value)
                           : absl::SimpleAtoi(numbers[i], &value));
      product[i] = {Range{value, value}};
    }
    shapes[std::move(shape)].push_back(std::move(product));
  }
  return shapes;
}

using ByTexts = std::map<std::vector<std::string>, std::vector<NumbersOfName>>;

void Add(const std::string& name, bool hex, ByTexts& by_texts) {
  Tokens tokens = Split(name, hex);
  by_texts[std::move(tokens.texts)].push_back(std::move(tokens.digits));
}

std::string Joined(const std::vector<std::string>& texts, const NumbersOfName& numbers) {
  std::string name = texts[0];
  for (size_t i = 0; i < numbers.size(); ++i) absl::StrAppend(&name, numbers[i], texts[i + 1]);
  return name;
}

// Only zero-padded words are hexadecimal numbers: "000a" is, "a1" is a name
// with a number. The others are split anew.
ByTexts SplitAll(const std::vector<std::string>& names) {
  ByTexts maybe_hex;
  for (const std::string& name : names) Add(name, /*hex=*/true, maybe_hex);
  ByTexts result;
  for (auto& [texts, numbers] : maybe_hex) {
    const std::vector<Place> places = PlacesOf(numbers);
    const bool sound = std::all_of(places.begin(), places.end(),
                                   [](const Place& p) { return p.padded || !p.hex; });
    for (NumbersOfName& one : numbers) {
      if (sound) {
        result[texts].push_back(std::move(one));
      } else {
        Add(Joined(texts, one), /*hex=*/false, result);
      }
    }
  }
  return result;
}

}  // namespace

std::vector<text::ListItem> FoldNames(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());

  std::vector<text::ListItem> folded;
  std::vector<std::string> foldable;
  for (std::string& name : names) {
    if (Foldable(name)) {
      foldable.push_back(std::move(name));
    } else {
      folded.push_back({std::move(name), 1});
    }
  }
  for (const auto& [texts, numbers] : SplitAll(foldable)) {
    for (auto& [shape, products] : ByShape(texts, numbers)) {
      Merge(products);
      for (const Product& product : products) folded.push_back(Entry(shape, product));
    }
  }
  std::sort(folded.begin(), folded.end(), [](const text::ListItem& a, const text::ListItem& b) {
    return a.count != b.count ? a.count > b.count : a.text < b.text;
  });
  return folded;
}

}  // namespace rapideye::digest
