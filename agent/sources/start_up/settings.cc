#include "agent/sources/start_up/settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/sources/start_up/limits.h"

namespace rapideye::agent {
namespace {

constexpr std::array<absl::string_view, 6> kPrefixes = {"MEGASCALE_", "TPU_",    "JAX_",
                                                        "XLA_",       "LIBTPU_", "PJRT_"};
constexpr std::array<absl::string_view, 2> kFlagVariables = {"XLA_FLAGS", "LIBTPU_INIT_ARGS"};
constexpr std::array<absl::string_view, 9> kSecretWords = {
    "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "PRIVATE", "API_KEY", "APIKEY", "_KEY", "AUTH"};
// Their values are addresses, shapes and names of the job, which the capture has anyway.
constexpr std::array<absl::string_view, 26> kPlain = {"JAX_COORDINATOR_ADDRESS",
                                                      "JAX_DEFAULT_MATMUL_PRECISION",
                                                      "JAX_PLATFORMS",
                                                      "JAX_PLATFORM_NAME",
                                                      "MEGASCALE_COORDINATOR_ADDRESS",
                                                      "MEGASCALE_TRANSPORT_TYPE",
                                                      "PJRT_DEVICE",
                                                      "TPU_ACCELERATOR_TYPE",
                                                      "TPU_CHIPS_PER_HOST_BOUNDS",
                                                      "TPU_CHIPS_PER_PROCESS_BOUNDS",
                                                      "TPU_HOST_BOUNDS",
                                                      "TPU_LIBRARY_PATH",
                                                      "TPU_NAME",
                                                      "TPU_PROCESS_ADDRESSES",
                                                      "TPU_PROCESS_BOUNDS",
                                                      "TPU_RUNTIME_METRICS_PORTS",
                                                      "TPU_TOPOLOGY",
                                                      "TPU_TOPOLOGY_ALT",
                                                      "TPU_TOPOLOGY_WRAP",
                                                      "TPU_TYPE",
                                                      "TPU_VISIBLE_CHIPS",
                                                      "TPU_VISIBLE_DEVICES",
                                                      "TPU_WORKER_HOSTNAMES",
                                                      "TPU_WORKER_ID",
                                                      "XLA_PYTHON_CLIENT_ALLOCATOR",
                                                      "XLA_PYTHON_CLIENT_MEM_FRACTION"};
constexpr std::array<absl::string_view, 6> kPackages = {
    "jax", "jaxlib", "libtpu", "libtpu_nightly", "libtpu-nightly", "torch_xla"};

template <typename Words>
bool IsAmong(absl::string_view text, const Words& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool SoundsSecret(absl::string_view name) {
  const std::string upper = absl::AsciiStrToUpper(name);
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](absl::string_view word) { return absl::StrContains(upper, word); });
}

bool IsNumberOrTruth(absl::string_view value) {
  double number = 0;
  const std::string lower = absl::AsciiStrToLower(value);
  // Twenty digits hold every 64-bit number; a longer one is a key rather than a count.
  return (value.size() <= 20 && absl::SimpleAtod(value, &number)) || lower == "true" ||
         lower == "false" || lower == "yes" || lower == "no" || lower == "on" || lower == "off" ||
         lower.empty();
}

// Words such as "collective-permute,all-gather"; neither a path nor a text that looks like a key.
bool IsWords(absl::string_view value) {
  size_t digits = 0;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && !absl::StrContains("_-.,:", absl::string_view(&c, 1))) {
      return false;
    }
    digits += std::isdigit(byte) != 0 ? 1 : 0;
  }
  return value.size() <= 64 && digits * 3 <= value.size();
}

// A URL with a password, or with the signature of a request.
bool HoldsCredentials(absl::string_view value) {
  return absl::StrContains(value, '@') || absl::StrContains(value, '?');
}

bool MayBeTold(const Setting& setting, absl::string_view value) {
  if (value.size() > kMaxSettingValueBytes || SoundsSecret(setting.name)) return false;
  if (IsNumberOrTruth(value)) return true;
  if (HoldsCredentials(value)) return false;
  return setting.kind == SettingKind::kFlag ? IsWords(value) : IsAmong(setting.name, kPlain);
}

class Picker {
 public:
  explicit Picker(const SettingHash& hash) : hash_(hash) {}

  void Variable(absl::string_view name, absl::string_view value) {
    const bool ours = std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                  [&](absl::string_view p) { return absl::StartsWith(name, p); });
    if (!ours) return;
    // XLA_FLAGS may name a file of flags instead.
    if (IsAmong(name, kFlagVariables) &&
        absl::StartsWith(absl::StripLeadingAsciiWhitespace(value), "--")) {
      Flags(name, value);
    } else {
      Add(SettingKind::kEnvironment, std::string(name), value);
    }
  }

  std::vector<Setting> Take() {
    std::vector<Setting> settings;
    for (auto& [key, setting] : settings_) {
      if (settings.size() >= kMaxSettings) break;
      settings.push_back(std::move(setting));
    }
    return settings;
  }

 private:
  void Flags(absl::string_view variable, absl::string_view value) {
    for (const absl::string_view flag :
         absl::StrSplit(value, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(flag, absl::MaxSplits('=', 1));
      const std::string name = absl::StrCat(variable, ":", parts.first);
      Add(SettingKind::kFlag, name, absl::StrContains(flag, '=') ? parts.second : "true");
    }
  }

  // The later of two flags of one name counts.
  void Add(SettingKind kind, std::string name, absl::string_view value) {
    if (name.size() > kMaxSettingNameBytes) return;
    Setting setting;
    setting.kind = kind;
    setting.name = name;
    if (MayBeTold(setting, value)) {
      setting.value = std::string(value);
    } else if (hash_) {
      setting.hash = hash_(value);
    }
    settings_[std::pair(kind, std::move(name))] = std::move(setting);
  }

  const SettingHash& hash_;
  std::map<std::pair<SettingKind, std::string>, Setting> settings_;
};

template <typename Function>
void ForEachVariable(absl::string_view environment, Function function) {
  for (const absl::string_view entry : absl::StrSplit(environment, '\0', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    function(parts.first, parts.second);
  }
}

std::optional<uint16_t> PortOf(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon != absl::string_view::npos) text.remove_prefix(colon + 1);
  uint32_t port = 0;
  if (!absl::SimpleAtoi(text, &port) || port == 0 || port > 0xffff) return std::nullopt;
  return static_cast<uint16_t>(port);
}

}  // namespace

std::vector<Setting> SettingsOf(absl::string_view environment, const SettingHash& hash) {
  Picker picker(hash);
  ForEachVariable(environment, [&](absl::string_view name, absl::string_view value) {
    picker.Variable(name, value);
  });
  return picker.Take();
}

std::optional<std::string> Variable(absl::string_view environment, absl::string_view name) {
  std::optional<std::string> found;
  ForEachVariable(environment, [&](absl::string_view one, absl::string_view value) {
    if (one == name && !found.has_value()) found = std::string(value);
  });
  return found;
}

uint16_t CoordinationPort(absl::string_view environment) {
  const std::optional<std::string> address = Variable(environment, "JAX_COORDINATOR_ADDRESS");
  if (!address.has_value()) return kCoordinationPort;
  return PortOf(*address).value_or(kCoordinationPort);
}

std::set<uint16_t> OwnPorts(absl::string_view environment) {
  std::set<uint16_t> ports;
  for (const char* name : {"TPU_PROCESS_PORT", "MEGASCALE_PORT"}) {
    const std::optional<std::string> value = Variable(environment, name);
    const std::optional<uint16_t> port = value.has_value() ? PortOf(*value) : std::nullopt;
    if (port.has_value()) ports.insert(*port);
  }
  if (Variable(environment, "JAX_PROCESS_ID") == "0") ports.insert(CoordinationPort(environment));
  return ports;
}

std::set<std::string> PackageFolders(absl::string_view maps) {
  std::set<std::string> folders;
  for (const absl::string_view line : absl::StrSplit(maps, '\n')) {
    const size_t path = line.find('/');
    if (path == absl::string_view::npos) continue;
    for (const absl::string_view name : {"/site-packages/", "/dist-packages/"}) {
      const size_t end = line.find(name, path);
      if (end == absl::string_view::npos) continue;
      folders.insert(std::string(line.substr(path, end + name.size() - 1 - path)));
    }
  }
  return folders;
}

std::optional<Setting> PackageVersion(absl::string_view entry) {
  if (!absl::ConsumeSuffix(&entry, ".dist-info")) return std::nullopt;
  const size_t dash = entry.rfind('-');
  if (dash == absl::string_view::npos || !IsAmong(entry.substr(0, dash), kPackages)) {
    return std::nullopt;
  }
  const absl::string_view version = entry.substr(dash + 1);
  if (version.empty() || version.size() > kMaxSettingValueBytes) return std::nullopt;
  Setting setting;
  setting.kind = SettingKind::kVersion;
  setting.name = std::string(entry.substr(0, dash));
  setting.value = std::string(version);
  return setting;
}

}  // namespace rapideye::agent
