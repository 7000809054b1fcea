#include "agent/sources/hlo_dump/parse.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/sources/limits.h"

namespace rapideye::agent {
namespace {

constexpr absl::string_view kModule = "module_";
constexpr absl::string_view kStage = "after_optimizations.txt";
// Parts that a build of XLA or another backend puts between name and stage.
constexpr absl::string_view kBuild = "cl_";
constexpr absl::string_view kDevice = "sm_";
constexpr absl::string_view kHost = "cpu_";
// A shorter run of digits could be anything.
constexpr size_t kLeastFingerprintDigits = 16;
constexpr size_t kMostFingerprints = 4;

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
}

// Takes the last ".part" off `text`.
absl::string_view TakeLastPart(absl::string_view& text) {
  const size_t dot = text.rfind('.');
  const absl::string_view part = dot == absl::string_view::npos ? text : text.substr(dot + 1);
  text = dot == absl::string_view::npos ? "" : text.substr(0, dot);
  return part;
}

// "jit_f.cl_505401" and "jit_f.sm_8" without the suffix, which is not of the module's name.
absl::string_view WithoutBuild(absl::string_view name) {
  absl::string_view rest = name;
  absl::string_view part = TakeLastPart(rest);
  const bool build = absl::ConsumePrefix(&part, kBuild) || absl::ConsumePrefix(&part, kDevice);
  return build && IsNumber(part) ? rest : name;
}

// XLA makes the name of a file from that of a module in this way.
char InFileName(char c) {
  return c == '/' || c == '\\' || c == '[' || c == ']' || c == ' ' ? '_' : c;
}

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
  });
}

}  // namespace

std::optional<DumpName> ParseDumpName(absl::string_view file) {
  if (file.size() > kMaxNameBytes) return std::nullopt;
  // A timestamp may stand in front.
  absl::string_view rest = file;
  const size_t dot = rest.find('.');
  if (dot != absl::string_view::npos && IsNumber(rest.substr(0, dot))) rest.remove_prefix(dot + 1);
  if (!absl::ConsumePrefix(&rest, kModule)) return std::nullopt;
  const size_t id_end = rest.find('.');
  DumpName name;
  if (id_end == absl::string_view::npos || !IsNumber(rest.substr(0, id_end)) ||
      !absl::SimpleAtoi(rest.substr(0, id_end), &name.id)) {
    return std::nullopt;
  }
  rest.remove_prefix(id_end + 1);
  if (!absl::ConsumeSuffix(&rest, kStage)) return std::nullopt;
  // The stage may begin with the backend: cpu_after_optimizations, 0_gpu_after_….
  if (!rest.empty() && rest.back() != '.') {
    if (rest.back() != '_') return std::nullopt;
    name.for_host = TakeLastPart(rest) == kHost;
  } else {
    absl::ConsumeSuffix(&rest, ".");
  }
  name.module = std::string(WithoutBuild(rest));
  return name;
}

bool IsDumpOf(const DumpName& dump, absl::string_view module) {
  if (module.empty()) return false;
  return std::equal(dump.module.begin(), dump.module.end(), module.begin(), module.end(),
                    [](char in_file, char c) { return in_file == InFileName(c); });
}

std::string BesideDump(absl::string_view dump, absl::string_view kind) {
  absl::ConsumeSuffix(&dump, kStage);
  // A backend in front of the stage is not part of the names of the other files.
  const size_t dot = dump.rfind('.');
  return absl::StrCat(dump.substr(0, dot == absl::string_view::npos ? 0 : dot + 1), kind);
}

std::vector<std::string> FingerprintsIn(absl::string_view beginning) {
  std::vector<std::string> found;
  const absl::string_view line = beginning.substr(0, beginning.find('\n'));
  constexpr absl::string_view kWord = "fingerprint";
  for (size_t at = line.find(kWord); at != absl::string_view::npos; at = line.find(kWord, at + 1)) {
    absl::string_view value = line.substr(at + kWord.size());
    // The rest of the attribute's name, an equals sign, a quoted value.
    const size_t name_end = value.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
    if (name_end == absl::string_view::npos) break;
    value.remove_prefix(name_end);
    if (!absl::ConsumePrefix(&value, "=\"")) continue;
    value = value.substr(0, value.find('"'));
    if (value.size() < kLeastFingerprintDigits || value.size() > 2 * kMaxFingerprintBytes) continue;
    const std::string hex = absl::AsciiStrToLower(value);
    if (!IsHex(hex)) continue;
    found.push_back(hex);
    if (found.size() == kMostFingerprints) break;
  }
  return found;
}

}  // namespace rapideye::agent
