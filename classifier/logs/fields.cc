#include "classifier/logs/fields.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

// Takes the text up to `end` off `text`; false if it is not there.
bool TakeUntil(absl::string_view& text, absl::string_view end, absl::string_view& taken) {
  const size_t at = text.find(end);
  if (at == absl::string_view::npos) return false;
  taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return true;
}

bool SkipPast(absl::string_view& text, absl::string_view marker) {
  absl::string_view skipped;
  return TakeUntil(text, marker, skipped);
}

absl::string_view TakeWhile(absl::string_view& text, absl::string_view allowed) {
  const absl::string_view taken = text.substr(0, text.find_first_not_of(allowed));
  text.remove_prefix(taken.size());
  return taken;
}

constexpr absl::string_view kDigits = "0123456789";

// "1m", "1m30s", "5m". Nothing else: ParseDuration would take "-1m" and "inf".
std::optional<int64_t> ParseTimeoutMs(absl::string_view text) {
  const absl::string_view taken = TakeWhile(text, "0123456789.hmsnu");
  absl::Duration duration;
  if (taken.empty() || !absl::ParseDuration(taken, &duration)) return std::nullopt;
  if (duration == absl::InfiniteDuration() || duration > absl::Hours(24 * 365)) return std::nullopt;
  return absl::ToInt64Milliseconds(duration);
}

std::optional<std::string> Name(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return std::nullopt;
  return std::string(text.substr(0, kMaxLogNameBytes));
}

}  // namespace

absl::string_view WithoutPrefix(absl::string_view line) {
  constexpr absl::string_view kSeverities = "IWEF";
  if (line.size() < 2 || kSeverities.find(line[0]) == absl::string_view::npos ||
      !absl::ascii_isdigit(static_cast<unsigned char>(line[1]))) {
    return line;
  }
  absl::string_view rest = line;
  return SkipPast(rest, "] ") ? rest : line;
}

std::optional<HangReport> ParseHangReport(absl::string_view line) {
  HangReport report;
  absl::string_view number;
  if (!SkipPast(line, "Timed out waiting for ") ||
      !TakeUntil(line, " graphs to complete at launch_id ", number) ||
      !absl::SimpleAtoi(number, &report.pending_graphs) ||
      !TakeUntil(line, ". Already completed: ", number) ||
      !absl::SimpleAtoi(number, &report.launch_id) ||
      !TakeUntil(line, ". StepGloballyInProgress: ", number) ||
      !absl::SimpleAtoi(number, &report.completed)) {
    return std::nullopt;
  }
  if (absl::ConsumePrefix(&line, "true")) {
    report.step_globally_in_progress = true;
  } else if (!absl::ConsumePrefix(&line, "false")) {
    return std::nullopt;
  }
  absl::ConsumePrefix(&line, ".");
  if (!absl::ConsumePrefix(&line, " Timeout: ")) return std::nullopt;
  const std::optional<int64_t> timeout = ParseTimeoutMs(line);
  constexpr int64_t kMost = int64_t{1} << 53;
  if (!timeout.has_value() || report.pending_graphs < 0 || report.pending_graphs > kMost ||
      report.completed < 0 || report.completed > kMost) {
    return std::nullopt;
  }
  report.timeout_ms = *timeout;
  return report;
}

// "... at tag:pc TensorCoreSequencer:1:0x169 (from ...)": where it halted, not
// where it came from.
void ExtractHaltLocation(absl::string_view line, LogEvent& event) {
  if (!SkipPast(line, "tag:pc ")) return;
  absl::string_view sequencer;
  if (!TakeUntil(line, ":", sequencer) || sequencer.size() > kMaxLogNameBytes) return;
  for (const char c : sequencer) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') return;
  }
  int64_t tag = 0;
  if (sequencer.empty() || !absl::SimpleAtoi(TakeWhile(line, kDigits), &tag) ||
      !absl::ConsumePrefix(&line, ":0x")) {
    return;
  }
  uint64_t pc = 0;
  if (!absl::SimpleHexAtoi(TakeWhile(line, "0123456789abcdefABCDEF"), &pc) ||
      pc > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return;
  }
  event.sequencer = std::string(sequencer);
  event.tag = tag;
  event.pc = static_cast<int64_t>(pc);
  if (event.core_type != CoreType::kUnspecified) return;
  if (sequencer == "TensorCoreSequencer") event.core_type = CoreType::kTensorCore;
  if (sequencer == "SparseCoreSequencer") event.core_type = CoreType::kSparseCore;
}

// "6x2x0_SC1", as a word.
void ExtractCoreName(absl::string_view line, LogEvent& event) {
  constexpr absl::string_view kInName = "0123456789x";
  for (size_t at = line.find('_'); at != absl::string_view::npos; at = line.find('_', at + 1)) {
    absl::string_view rest = line.substr(at);
    const bool tensor = absl::ConsumePrefix(&rest, "_TC");
    if (!tensor && !absl::ConsumePrefix(&rest, "_SC")) continue;
    const absl::string_view digits = TakeWhile(rest, kDigits);
    int32_t index = 0;
    if (digits.size() > 3 || !absl::SimpleAtoi(digits, &index)) continue;
    size_t begin = at;
    while (begin > 0 && kInName.find(line[begin - 1]) != absl::string_view::npos) --begin;
    const absl::string_view coordinates = line.substr(begin, at - begin);
    int parts = 0;
    bool sound = coordinates.size() <= 24;
    for (const absl::string_view part : absl::StrSplit(coordinates, 'x')) {
      ++parts;
      sound = sound && !part.empty();
    }
    if (!sound || parts != 3) continue;
    event.core = std::string(line.substr(begin, at + 3 + digits.size() - begin));
    event.core_type = tensor ? CoreType::kTensorCore : CoreType::kSparseCore;
    event.core_index = index;
    return;
  }
}

void ExtractHlo(absl::string_view line, LogEvent& event) {
  if (!SkipPast(line, "HLO: ")) return;
  event.hlo = Name(line.substr(0, line.find(';')));
}

void ExtractLaunchId(absl::string_view line, LogEvent& event) {
  if (!SkipPast(line, "(launch_id=")) return;
  int64_t launch_id = 0;
  absl::string_view number;
  if (TakeUntil(line, ")", number) && absl::SimpleAtoi(number, &launch_id)) {
    event.launch_id = launch_id;
  }
}

void ExtractPeerHost(absl::string_view line, LogEvent& event) {
  absl::string_view rest = line;
  if (!SkipPast(rest, "TPU session error from worker ")) {
    rest = line;
    if (!SkipPast(rest, "The task with address ")) return;
  }
  absl::string_view host = rest.substr(0, rest.find_first_of(" ,;\t"));
  // The full stop ends the sentence, the port the address.
  absl::ConsumeSuffix(&host, ".");
  const size_t colon = host.rfind(':');
  if (colon == absl::string_view::npos) return;
  host = host.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  event.peer_host = Name(host);
}

}  // namespace rapideye::logs
