#include "agent/sources/pcie/parse.h"

#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace rapideye::agent {
namespace {

constexpr absl::string_view kGoogle = "0x1ae0";
// v4, v5e, v5p, v6e, 7x.
constexpr std::array<absl::string_view, 5> kTpus = {"0x005e", "0x0063", "0x0062", "0x006f",
                                                    "0x0076"};

}  // namespace

bool IsPciAddress(absl::string_view text) {
  // Domains beyond 16 bits exist, behind controllers that make up their own.
  constexpr absl::string_view kForm = "hhhh:hh:hh.d";
  if (text.size() < kForm.size() || text.size() > kForm.size() + 4) return false;
  const size_t longer = text.size() - kForm.size();
  for (size_t i = 0; i < text.size(); ++i) {
    const char form = i < longer ? 'h' : kForm[i - longer];
    const char c = text[i];
    const bool fits = form == 'h'   ? absl::ascii_isxdigit(c) && !absl::ascii_isupper(c)
                      : form == 'd' ? c >= '0' && c <= '7'
                                    : c == form;
    if (!fits) return false;
  }
  return true;
}

bool IsTpu(absl::string_view vendor, absl::string_view device) {
  return absl::StripAsciiWhitespace(vendor) == kGoogle &&
         std::find(kTpus.begin(), kTpus.end(), absl::StripAsciiWhitespace(device)) != kTpus.end();
}

std::optional<int32_t> NumberBehind(absl::string_view prefix, absl::string_view name) {
  int32_t number = 0;
  if (!absl::ConsumePrefix(&name, prefix) || name.empty() || name.size() > 9 ||
      !std::all_of(name.begin(), name.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(name, &number)) {
    return std::nullopt;
  }
  return number;
}

void NumberChips(std::vector<TpuDevice>& devices) {
  std::set<int32_t> groups;
  for (TpuDevice& device : devices) {
    device.chip = device.accel;
    if (device.group.has_value()) groups.insert(*device.group);
  }
  const bool in_a_row = groups.size() == devices.size() && !groups.empty() &&
                        *groups.begin() == 0 &&
                        *groups.rbegin() == static_cast<int32_t>(groups.size()) - 1;
  const bool any_accel = std::any_of(devices.begin(), devices.end(),
                                     [](const TpuDevice& d) { return d.accel.has_value(); });
  if (any_accel || !in_a_row) return;
  for (TpuDevice& device : devices) device.chip = device.group;
}

std::optional<int64_t> TotalErrors(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t space = line.find(' ');
    int64_t total = 0;
    if (!absl::StartsWith(line, "TOTAL_ERR_") || space == absl::string_view::npos ||
        !absl::SimpleAtoi(line.substr(space + 1), &total) || total < 0) {
      continue;
    }
    return total;
  }
  return std::nullopt;
}

}  // namespace rapideye::agent
