#include "classifier/logs/recognise.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/errors/error_kind.h"
#include "classifier/host/watchdog.h"
#include "classifier/logs/fields.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

// The chip whose PCI address the line holds; absent: it names no TPU of this host.
std::optional<int32_t> ChipNamed(absl::string_view line, const RecogniseOptions& options) {
  for (const auto& [address, chip] : options.tpu_addresses) {
    if (absl::StrContains(line, address)) return chip;
  }
  return std::nullopt;
}

// "F0926 17:26:32.075587  157988 client.h:77] …" of glog, "2023-02-17 06:08:24.084633: F
// tensorflow/core/… .cc:86] …" of TSL: a program logs such a line when it ends itself.
bool IsFatal(absl::string_view line) {
  const size_t file = line.find(".cc:");
  const size_t end = line.find("] ");
  if (end == absl::string_view::npos || end > kMaxFatalPrefixBytes) return false;
  if (file < end && absl::StrContains(line.substr(0, file), ": F ")) return true;
  // The F may stand behind the label that a launcher puts before the lines of its workers.
  for (size_t at = line.find('F'); at < end; at = line.find('F', at + 1)) {
    if (at > 0 && line[at - 1] != ' ' && line[at - 1] != ']' && line[at - 1] != ':') continue;
    const absl::string_view date = line.substr(at + 1, 5);
    if (date.size() == 5 && date.back() == ' ' &&
        std::all_of(date.begin(), date.end() - 1,
                    [](unsigned char c) { return absl::ascii_isdigit(c); })) {
      return true;
    }
  }
  return false;
}

std::string KeyOf(const LogEvent& event) {
  std::string key = absl::StrCat(static_cast<int>(event.kind), "|", event.core.value_or(""), "|",
                                 event.sequencer.value_or(""), "|", event.tag.value_or(-1), "|",
                                 event.pc.value_or(-1), "|", event.hlo.value_or(""), "|",
                                 event.peer_host.value_or(""));
  if (IsToldApartByText(event.kind)) absl::StrAppend(&key, "|", WithoutPrefix(event.text));
  absl::StrAppend(&key, "|", absl::StrJoin(event.peer_tasks, ","));
  // It tells how its process ends, which lines of the same kind do not.
  if (classifier::AbortsItsProcess(event)) key += "|ends";
  if (classifier::IsOfWatchdog(event)) key += "|watchdog";
  return key;
}

}  // namespace

std::optional<LogLine> Recognise(absl::string_view line, const RecogniseOptions& options) {
  line = absl::StripAsciiWhitespace(line.substr(0, kMaxLogLineBytes));
  std::string plain;
  if (absl::StrContains(line, '\x1b')) line = plain = WithoutColours(line);
  const bool kernel = options.kernel_words || options.source == LogSource::kKernelLog;
  const bool families = options.families && options.source != LogSource::kKernelLog;
  const Signature* signature = options.signatures->Find(line, kernel);
  if (signature == nullptr && families) signature = SignatureTable::Families().Find(line, kernel);
  const bool fatal = signature == nullptr && families && IsFatal(line);
  if (signature == nullptr && !fatal && options.outcomes) {
    signature = SignatureTable::Outcomes().Find(line, kernel);
  }
  // A program's reason to end itself concerns itself alone: the event names no other worker.
  if (signature == nullptr && !fatal) return std::nullopt;
  LogLine found;
  LogEvent& event = found.event;
  event.kind = signature == nullptr ? LogKind::kProgramRejected : signature->kind;
  event.source = options.source;
  event.text = std::string(line.substr(0, kMaxLogTextBytes));
  if (event.kind == LogKind::kKernelHardware && options.source == LogSource::kKernelLog) {
    event.chip = ChipNamed(line, options);
    if (!event.chip.has_value()) return std::nullopt;
  }
  if (event.kind == LogKind::kHangDetected) {
    found.hang_report = ParseHangReport(line);
    if (found.hang_report.has_value()) event.launch_id = found.hang_report->launch_id;
  }
  ExtractCoreName(line, event);
  ExtractHaltLocation(line, event);
  ExtractHlo(line, event);
  if (!event.launch_id.has_value()) ExtractLaunchId(line, event);
  ExtractPeerHost(line, event);
  ExtractPeerTasks(line, event);
  found.key = KeyOf(event);
  return found;
}

}  // namespace rapideye::logs
