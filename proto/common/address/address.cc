#include "proto/common/address/address.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye {
namespace {

constexpr size_t kGroups = 8;

bool IsNumber(absl::string_view text, size_t digits) {
  return !text.empty() && text.size() <= digits &&
         text.find_first_not_of("0123456789") == absl::string_view::npos;
}

std::optional<IpAddress> ParseV4(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  if (parts.size() != 4) return std::nullopt;
  std::array<uint8_t, 4> bytes = {};
  for (size_t i = 0; i < parts.size(); ++i) {
    int value = 0;
    if (!IsNumber(parts[i], 3) || !absl::SimpleAtoi(parts[i], &value) || value > 255) {
      return std::nullopt;
    }
    bytes[i] = static_cast<uint8_t>(value);
  }
  return FromV4(bytes);
}

// Groups of up to four hex digits; the very last may be an IPv4 address.
std::optional<std::vector<uint16_t>> ParseGroups(absl::string_view text, bool at_end) {
  std::vector<uint16_t> groups;
  if (text.empty()) return groups;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (at_end && i + 1 == parts.size() && absl::StrContains(parts[i], '.')) {
      const std::optional<IpAddress> v4 = ParseV4(parts[i]);
      if (!v4.has_value()) return std::nullopt;
      groups.push_back(static_cast<uint16_t>(v4->bytes[12] << 8 | v4->bytes[13]));
      groups.push_back(static_cast<uint16_t>(v4->bytes[14] << 8 | v4->bytes[15]));
      continue;
    }
    uint32_t value = 0;
    if (parts[i].empty() || parts[i].size() > 4 || !absl::SimpleHexAtoi(parts[i], &value) ||
        parts[i].find_first_not_of("0123456789abcdefABCDEF") != absl::string_view::npos) {
      return std::nullopt;
    }
    groups.push_back(static_cast<uint16_t>(value));
  }
  return groups;
}

std::optional<IpAddress> ParseV6(absl::string_view text) {
  const size_t gap = text.find("::");
  const bool has_gap = gap != absl::string_view::npos;
  std::optional<std::vector<uint16_t>> groups = ParseGroups(text.substr(0, gap), !has_gap);
  if (!groups.has_value()) return std::nullopt;
  if (has_gap) {
    const std::optional<std::vector<uint16_t>> tail = ParseGroups(text.substr(gap + 2), true);
    if (!tail.has_value() || groups->size() + tail->size() >= kGroups) return std::nullopt;
    groups->resize(kGroups - tail->size());
    groups->insert(groups->end(), tail->begin(), tail->end());
  }
  if (groups->size() != kGroups) return std::nullopt;
  IpAddress address;
  for (size_t i = 0; i < kGroups; ++i) {
    address.bytes[2 * i] = static_cast<uint8_t>((*groups)[i] >> 8);
    address.bytes[2 * i + 1] = static_cast<uint8_t>((*groups)[i] & 0xff);
  }
  return address;
}

}  // namespace

bool IpAddress::IsV4() const {
  return std::all_of(bytes.begin(), bytes.begin() + 10, [](uint8_t b) { return b == 0; }) &&
         bytes[10] == 0xff && bytes[11] == 0xff;
}

bool IpAddress::IsUnspecified() const {
  const auto begin = IsV4() ? bytes.begin() + 12 : bytes.begin();
  return std::all_of(begin, bytes.end(), [](uint8_t b) { return b == 0; });
}

bool IpAddress::IsLoopback() const {
  if (IsV4()) return bytes[12] == 127;
  return bytes.back() == 1 &&
         std::all_of(bytes.begin(), bytes.end() - 1, [](uint8_t b) { return b == 0; });
}

bool IpAddress::IsReachable() const {
  if (IsUnspecified() || IsLoopback()) return false;
  if (IsV4()) {
    const bool of_this_network = bytes[12] == 0;
    const bool link_local = bytes[12] == 169 && bytes[13] == 254;
    const bool multicast_or_beyond = bytes[12] >= 224;
    return !of_this_network && !link_local && !multicast_or_beyond;
  }
  const bool link_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  const bool multicast = bytes[0] == 0xff;
  return !link_local && !multicast;
}

IpAddress FromV4(std::array<uint8_t, 4> bytes) {
  IpAddress address;
  address.bytes[10] = address.bytes[11] = 0xff;
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin() + 12);
  return address;
}

std::optional<IpAddress> ParseIpAddress(absl::string_view text) {
  return absl::StrContains(text, ':') ? ParseV6(text) : ParseV4(text);
}

std::string ToString(const IpAddress& address) {
  const auto& b = address.bytes;
  if (address.IsV4()) return absl::StrCat(b[12], ".", b[13], ".", b[14], ".", b[15]);
  std::string text;
  for (size_t i = 0; i < b.size(); i += 2) {
    absl::StrAppend(&text, i == 0 ? "" : ":", absl::Hex(b[i] << 8 | b[i + 1]));
  }
  return text;
}

std::optional<IpAddress> FromBytes(absl::string_view bytes) {
  IpAddress address = FromV4({});
  if (bytes.size() != 4 && bytes.size() != address.bytes.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), address.bytes.end() - bytes.size());
  return address;
}

std::string ToBytes(const IpAddress& address) {
  return std::string(address.bytes.begin() + (address.IsV4() ? 12 : 0), address.bytes.end());
}

std::optional<Endpoint> ParseEndpoint(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return std::nullopt;
  const absl::string_view digits = text.substr(colon + 1);
  int port = 0;
  if (!IsNumber(digits, 5) || !absl::SimpleAtoi(digits, &port) || port < 1 || port > 65535) {
    return std::nullopt;
  }
  absl::string_view host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host == "localhost") host = "127.0.0.1";
  return Endpoint{ParseIpAddress(host), static_cast<uint16_t>(port)};
}

bool Serves(const IpAddress& local, uint16_t port, const Endpoint& endpoint) {
  if (port != endpoint.port) return false;
  if (!endpoint.address.has_value() || local.IsUnspecified() || local == *endpoint.address) {
    return true;
  }
  // "localhost" may mean either of the two.
  return endpoint.address == FromV4({127, 0, 0, 1}) && local.IsLoopback() && !local.IsV4();
}

}  // namespace rapideye
