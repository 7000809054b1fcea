#include "proto/common/flags/flag_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::program {
namespace {

// absl ignores blanks around a number; a flag with blanks is a mistake.
bool HasBlank(const std::string& text) {
  for (char c : text) {
    if (absl::ascii_isspace(static_cast<unsigned char>(c))) return true;
  }
  return false;
}

template <typename T>
bool ParseInteger(const std::string& text, T& value) {
  T parsed = 0;
  if (HasBlank(text) || !absl::SimpleAtoi(text, &parsed)) return false;
  value = parsed;
  return true;
}

struct Unit {
  const char* name;
  int64_t bytes;
};
// The largest first: a size is shown in the largest unit that leaves no rest.
constexpr Unit kUnits[] = {
    {"TiB", int64_t{1} << 40},
    {"TB", 1'000'000'000'000},
    {"GiB", int64_t{1} << 30},
    {"GB", 1'000'000'000},
    {"MiB", int64_t{1} << 20},
    {"MB", 1'000'000},
    {"KiB", int64_t{1} << 10},
    {"kB", 1'000},
    {"", 1},
};

constexpr FlagType kInteger = {"NUMBER", "a whole number"};
constexpr FlagType kCount = {"NUMBER", "a whole number that is not negative"};

}  // namespace

bool ParseValue(const std::string& text, std::string& value) {
  value = text;
  return true;
}

bool ParseValue(const std::string& text, bool& value) { return absl::SimpleAtob(text, &value); }
bool ParseValue(const std::string& text, int32_t& value) { return ParseInteger(text, value); }
bool ParseValue(const std::string& text, int64_t& value) { return ParseInteger(text, value); }
bool ParseValue(const std::string& text, uint32_t& value) { return ParseInteger(text, value); }
bool ParseValue(const std::string& text, uint64_t& value) { return ParseInteger(text, value); }

bool ParseValue(const std::string& text, double& value) {
  double parsed = 0;
  if (HasBlank(text) || !absl::SimpleAtod(text, &parsed) || !std::isfinite(parsed)) return false;
  value = parsed;
  return true;
}

bool ParseValue(const std::string& text, absl::Duration& value) {
  absl::Duration parsed;
  if (!absl::ParseDuration(text, &parsed)) return false;
  if (parsed < absl::ZeroDuration() || parsed == absl::InfiniteDuration()) return false;
  value = parsed;
  return true;
}

bool ParseValue(const std::string& text, ByteSize& value) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = text.substr(digits);
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    int64_t count = 0;
    if (!ParseInteger(text.substr(0, digits), count)) return false;
    if (count > std::numeric_limits<int64_t>::max() / known.bytes) return false;
    value.bytes = count * known.bytes;
    return true;
  }
  return false;
}

FlagType TypeOf(const std::string&) { return {"TEXT", "text"}; }
FlagType TypeOf(bool) { return {"", "true or false"}; }
FlagType TypeOf(int32_t) { return kInteger; }
FlagType TypeOf(int64_t) { return kInteger; }
FlagType TypeOf(uint32_t) { return kCount; }
FlagType TypeOf(uint64_t) { return kCount; }
FlagType TypeOf(double) { return {"NUMBER", "a number"}; }
FlagType TypeOf(absl::Duration) { return {"DURATION", "a duration such as 500ms, 5s or 2m"}; }
FlagType TypeOf(ByteSize) { return {"SIZE", "a size such as 500MB or 10GiB"}; }

std::string Show(const std::string& value) { return value; }
std::string Show(bool value) { return value ? "true" : "false"; }
std::string Show(int32_t value) { return absl::StrCat(value); }
std::string Show(int64_t value) { return absl::StrCat(value); }
std::string Show(uint32_t value) { return absl::StrCat(value); }
std::string Show(uint64_t value) { return absl::StrCat(value); }
std::string Show(double value) { return absl::StrCat(value); }
std::string Show(absl::Duration value) { return absl::FormatDuration(value); }
std::string Show(ByteSize value) {
  for (const Unit& unit : kUnits) {
    if (value.bytes != 0 && value.bytes % unit.bytes == 0) {
      return absl::StrCat(value.bytes / unit.bytes, unit.name);
    }
  }
  return "0";
}
std::string Show(const std::vector<std::string>& value) { return absl::StrJoin(value, ","); }

}  // namespace rapideye::program
