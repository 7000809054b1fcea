#include "agent/sources/runtime/hlo_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/sources/limits.h"
#include "agent/sources/runtime/limits.h"
#include "classifier/hlo/waits.h"

namespace rapideye::agent {
namespace {

using Json = nlohmann::json;

// Elements of a JSON array that are looked at.
constexpr size_t kMaxElements = 64;

bool IsInstructionCharacter(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
}

std::optional<std::string> AsInstruction(absl::string_view text) {
  absl::ConsumePrefix(&text, "%");
  if (text.empty() || text.size() > kMaxNameBytes || absl::ascii_isdigit(text.front()) ||
      !std::all_of(text.begin(), text.end(), IsInstructionCharacter)) {
    return std::nullopt;
  }
  return std::string(text);
}

std::optional<std::string> AsModule(absl::string_view text) {
  const bool printable = std::all_of(text.begin(), text.end(), absl::ascii_isgraph);
  if (text.empty() || text.size() > kMaxNameBytes || !printable) return std::nullopt;
  return std::string(text);
}

std::optional<HloWaits> WaitsOf(absl::string_view instruction) {
  const HloWaits waits = classifier::HloWaitsOfLine({instruction.data(), instruction.size()});
  return waits == HloWaits::kUnspecified ? std::nullopt : std::optional(waits);
}

template <typename T>
void FillIn(std::optional<T>& target, std::optional<T> value) {
  if (!target.has_value()) target = std::move(value);
}

// "HLO: <instruction>; HLO computation: <name>; HLO module: <name>", the
// grammar of the runtime's log lines.
bool ReadLabelled(absl::string_view text, HloNames& names) {
  bool labelled = false;
  for (absl::string_view part : absl::StrSplit(text, absl::MaxSplits(';', 8))) {
    part = absl::StripAsciiWhitespace(part);
    if (absl::ConsumePrefix(&part, "HLO: ")) {
      // An instruction may stand here in full.
      const absl::string_view name = part.substr(0, part.find_first_of(" \t="));
      FillIn(names.instruction, AsInstruction(name));
      FillIn(names.waits, WaitsOf(part));
      labelled = true;
    } else if (absl::ConsumePrefix(&part, "HLO module: ")) {
      FillIn(names.module, AsModule(absl::StripAsciiWhitespace(part)));
      labelled = true;
    } else if (absl::StartsWith(part, "HLO computation: ")) {
      labelled = true;
    }
  }
  return labelled;
}

void ReadText(absl::string_view text, HloNames& names) {
  text = absl::StripAsciiWhitespace(text);
  if (ReadLabelled(text, names)) return;
  absl::ConsumePrefix(&text, "ROOT ");
  const size_t equals = text.find(" = ");
  FillIn(names.instruction, AsInstruction(text.substr(0, equals)));
  FillIn(names.waits, WaitsOf(text));
}

void ReadObject(const Json& object, HloNames& names) {
  static constexpr std::array kInstructionKeys = {"instruction", "instruction_name", "hlo",
                                                  "hlo_name", "name"};
  static constexpr std::array kModuleKeys = {"module", "module_name", "hlo_module"};
  for (const char* key : kInstructionKeys) {
    const auto it = object.find(key);
    if (it != object.end() && it->is_string()) ReadText(it->get_ref<const std::string&>(), names);
  }
  for (const char* key : kModuleKeys) {
    const auto it = object.find(key);
    if (it != object.end() && it->is_string()) {
      FillIn(names.module, AsModule(it->get_ref<const std::string&>()));
    }
  }
}

}  // namespace

HloNames NamesFromHlo(absl::string_view location, absl::string_view detailed_info) {
  HloNames names;
  ReadText(location.substr(0, kMaxHloTextBytes), names);
  if (names.instruction.has_value() && names.module.has_value()) return names;
  if (detailed_info.empty() || detailed_info.size() > kMaxHloDetailBytes) return names;

  const Json array = Json::parse(detailed_info, nullptr, /*allow_exceptions=*/false);
  if (!array.is_array()) return names;
  const size_t count = std::min(array.size(), kMaxElements);
  for (size_t i = 0; i < count; ++i) {
    if (array[i].is_string()) {
      ReadText(array[i].get_ref<const std::string&>(), names);
    } else if (array[i].is_object()) {
      ReadObject(array[i], names);
    }
  }
  return names;
}

}  // namespace rapideye::agent
