#include "coordinator/fleet/records/records.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

constexpr std::string_view kByHardware = "hardware:";
constexpr std::string_view kByName = "host:";
constexpr char kRevision[] = "-r";

// True for the hardware of a machine that has no number of its own, or may not tell it.
bool SaysNothing(absl::string_view hardware) {
  const bool one_character = hardware.find_first_not_of(hardware[0]) == absl::string_view::npos;
  const bool letter = absl::ascii_isalnum(static_cast<unsigned char>(hardware[0]));
  if (one_character && (hardware.size() > 1 || hardware[0] == '0' || !letter)) return true;
  for (const char* placeholder : {"unknown", "none", "null", "n/a", "default", "not specified"}) {
    if (absl::EqualsIgnoreCase(hardware, placeholder)) return true;
  }
  return false;
}

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

Grounds GroundsNamed(std::string_view name) {
  for (const Grounds grounds : {Grounds::kRepetition, Grounds::kDirect}) {
    if (name == GroundsName(grounds)) return grounds;
  }
  return Grounds::kNever;
}

Grounds GroundsAllowed(std::string_view cause, std::string_view detail, Grounds claimed) {
  if (cause == "BAD_TPU_CHIP") return claimed;
  if (cause == "NETWORKING_ISSUE" && detail == "DCN_HOST") {
    // The machine's own side and its peers agree, or it is not known which end is bad.
    return claimed == Grounds::kDirect ? claimed : Grounds::kNever;
  }
  const auto is_any_of = [detail](std::initializer_list<std::string_view> details) {
    return std::find(details.begin(), details.end(), detail) != details.end();
  };
  const bool may_be_hardware =
      (cause == "NETWORKING_ISSUE" && is_any_of({"ICI_LINK"})) ||
      (cause == "UNRECOVERABLE_ERROR" &&
       is_any_of({"WORKER_LOST", "POWER", "HOST_TO_DEVICE", "DEVICE_TO_HOST"}));
  return may_be_hardware ? std::min(claimed, Grounds::kRepetition) : Grounds::kNever;
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
  const std::string number(absl::StripAsciiWhitespace(hardware.value_or("")));
  return !number.empty() && !SaysNothing(number) ? absl::StrCat(std::string(kByHardware), number)
                                                 : absl::StrCat(std::string(kByName), host);
}

bool KnownByNameOnly(std::string_view machine_key) { return machine_key.starts_with(kByName); }

std::string IncidentKey(const std::string& id, int64_t revision) {
  return revision > 1 ? absl::StrCat(id, kRevision, revision) : id;
}

IncidentOfKey ParseIncidentKey(const std::string& key) {
  const size_t at = key.rfind(kRevision);
  int64_t revision = 0;
  if (at == std::string::npos ||
      !absl::SimpleAtoi(key.substr(at + sizeof(kRevision) - 1), &revision) || revision < 2) {
    return {key, 1};
  }
  return {key.substr(0, at), revision};
}

}  // namespace rapideye::coordinator
