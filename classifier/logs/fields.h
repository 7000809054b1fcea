// Extracts the fields of a recognised log line: core, launch, instruction, peer.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_FIELDS_H_
#define RAPIDEYE_CLASSIFIER_LOGS_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/v1/evidence.h"

namespace rapideye::logs {

// The line without the sequences that colour it on a terminal.
std::string WithoutColours(absl::string_view line);

// The line without "E1001 15:22:33.275768    4353 file.cc:1350] ".
absl::string_view WithoutPrefix(absl::string_view line);

// The runtime's hang line; absent if it is cut before its last field.
std::optional<HangReport> ParseHangReport(absl::string_view line);

// Each function sets the fields that it finds and leaves the rest absent.
void ExtractHaltLocation(absl::string_view line, LogEvent& event);
void ExtractCoreName(absl::string_view line, LogEvent& event);
void ExtractHlo(absl::string_view line, LogEvent& event);
void ExtractLaunchId(absl::string_view line, LogEvent& event);
void ExtractPeerHost(absl::string_view line, LogEvent& event);
// Reads the tasks that a line of this kind names: tasks without heartbeats, tasks that
// came back, tasks that a watchdog names. Sorted, each once, at most kMaxListedTasks.
void ExtractPeerTasks(absl::string_view line, LogEvent& event);

// Reads "2" or "/job:jax_worker/replica:0/task:2" as the whole text; absent for any other text.
std::optional<int32_t> TaskNumber(absl::string_view text);

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_FIELDS_H_
