#include "coordinator/fleet/records.h"

#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

constexpr std::string_view kByHardware = "hardware:";
constexpr std::string_view kByName = "host:";

}  // namespace

std::string_view GroundsName(Grounds grounds) {
  switch (grounds) {
    case Grounds::kNever:
      return "never";
    case Grounds::kRepetition:
      return "repetition";
    case Grounds::kDirect:
      return "direct";
  }
  return "never";
}

std::string_view RemovalModeName(RemovalMode mode) {
  switch (mode) {
    case RemovalMode::kOff:
      return "off";
    case RemovalMode::kDryRun:
      return "dry-run";
    case RemovalMode::kEnforce:
      return "enforce";
  }
  return "off";
}

std::optional<RemovalMode> RemovalModeNamed(std::string_view name) {
  for (const RemovalMode mode : {RemovalMode::kOff, RemovalMode::kDryRun, RemovalMode::kEnforce}) {
    if (name == RemovalModeName(mode)) return mode;
  }
  return std::nullopt;
}

std::string_view ActionName(Action action) {
  switch (action) {
    case Action::kRemove:
      return "remove";
    case Action::kWatch:
      return "watch";
    case Action::kRefuse:
      return "refuse";
  }
  return "watch";
}

std::string MachineKey(const std::optional<std::string>& hardware, const std::string& host) {
  const bool known = hardware.has_value() && !hardware->empty();
  return known ? absl::StrCat(std::string(kByHardware), *hardware)
               : absl::StrCat(std::string(kByName), host);
}

bool KnownByNameOnly(std::string_view machine_key) { return machine_key.starts_with(kByName); }

}  // namespace rapideye::coordinator
