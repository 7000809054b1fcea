#include "classifier/logs/recognise.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/logs/fields.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

// The chip whose address the kernel names; absent: none of this host's TPUs.
std::optional<int32_t> ChipNamed(absl::string_view line, const RecogniseOptions& options) {
  for (const auto& [address, chip] : options.tpu_addresses) {
    if (absl::StrContains(line, address)) return chip;
  }
  return std::nullopt;
}

std::string KeyOf(const LogEvent& event) {
  std::string key = absl::StrCat(static_cast<int>(event.kind), "|", event.core.value_or(""), "|",
                                 event.sequencer.value_or(""), "|", event.tag.value_or(-1), "|",
                                 event.pc.value_or(-1), "|", event.hlo.value_or(""), "|",
                                 event.peer_host.value_or(""));
  if (IsToldApartByText(event.kind)) absl::StrAppend(&key, "|", WithoutPrefix(event.text));
  absl::StrAppend(&key, "|", absl::StrJoin(event.peer_tasks, ","));
  return key;
}

}  // namespace

std::optional<LogLine> Recognise(absl::string_view line, const RecogniseOptions& options) {
  line = absl::StripAsciiWhitespace(line.substr(0, kMaxLogLineBytes));
  std::string plain;
  if (absl::StrContains(line, '\x1b')) line = plain = WithoutColours(line);
  const Signature* signature = options.signatures->Find(
      line, options.kernel_words || options.source == LogSource::kKernelLog);
  if (signature == nullptr) return std::nullopt;
  LogLine found;
  LogEvent& event = found.event;
  event.kind = signature->kind;
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
