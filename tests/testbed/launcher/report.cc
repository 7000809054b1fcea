#include "tests/testbed/launcher/report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace rapideye::testbed {
namespace {

std::string Seconds(absl::Duration duration) {
  return absl::StrFormat("%.3f s", absl::ToDoubleSeconds(duration));
}

}  // namespace

std::string LatencyLine(const JobOptions& options, const Outcome& outcome) {
  const Finding& finding = outcome.incident->finding;
  std::string line = "last progress";
  absl::Duration known;
  const auto part = [&](absl::string_view name, absl::Duration duration) {
    absl::StrAppend(&line, " -> ", name, " ", Seconds(duration));
    known += duration;
  };
  if (finding.detected_at.has_value()) {
    part("detection", *finding.detected_at - outcome.last_progress);
  }
  part("collection begins", finding.detect_to_collect);
  part("collected", finding.collect);
  part("classified", finding.classify);
  part("rendered", finding.render);
  part("digest on disk", outcome.latency - known);
  return absl::StrCat(line, "; in all ", Seconds(outcome.latency), ", promised ",
                      Seconds(LatencyBound(options)));
}

std::string Report(const ExperimentOptions& options, const Outcome& outcome) {
  std::string text;
  if (outcome.incident.has_value()) {
    const Incident& incident = *outcome.incident;
    absl::StrAppend(&text, "\n", incident.text, "\n");
    absl::StrAppend(&text, "true fault: ", Describe(outcome.truth), "\n");
    absl::StrAppend(&text, "verdict:    ", Describe(incident.finding),
                    incident.finding.confidence
                        ? absl::StrFormat(" (confidence %.2f)", *incident.finding.confidence)
                        : "",
                    "\n");
    absl::StrAppend(&text, "latency:    ", LatencyLine(options.job, outcome), "\n");
    absl::StrAppend(&text, "digest:     ", incident.json_path, "\n");
    absl::StrAppend(&text, "capture:    ", incident.capture_path, "\n");
  } else {
    absl::StrAppend(&text, "true fault: ", Describe(outcome.truth), "\nverdict:    none raised\n");
  }
  for (const std::string& difference : outcome.differences) {
    absl::StrAppend(&text, "WRONG:      ", difference, "\n");
  }
  if (outcome.differences.empty()) absl::StrAppend(&text, "RIGHT\n");
  return text;
}

}  // namespace rapideye::testbed
