// Extracts the fields of a recognised log line: core, launch, instruction, peer.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_FIELDS_H_
#define RAPIDEYE_CLASSIFIER_LOGS_FIELDS_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "proto/v1/evidence.h"

namespace rapideye::logs {

// The line without "E1001 15:22:33.275768    4353 file.cc:1350] ".
absl::string_view WithoutPrefix(absl::string_view line);

// The runtime's hang line; absent if it is cut before its last field.
std::optional<HangReport> ParseHangReport(absl::string_view line);

// Each sets what it finds and leaves the rest absent.
void ExtractHaltLocation(absl::string_view line, LogEvent& event);
void ExtractCoreName(absl::string_view line, LogEvent& event);
void ExtractHlo(absl::string_view line, LogEvent& event);
void ExtractLaunchId(absl::string_view line, LogEvent& event);
void ExtractPeerHost(absl::string_view line, LogEvent& event);

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_FIELDS_H_
