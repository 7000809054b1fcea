// Reads any bytes as a log, cut anywhere: events stay within their bounds, and are the same
// however the bytes came.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "classifier/logs/context.h"
#include "classifier/logs/limits.h"
#include "classifier/logs/lines.h"
#include "classifier/logs/recognise.h"
#include "tests/fuzz/fuzzing.h"

namespace {

std::vector<std::string> Split(absl::string_view bytes, size_t piece) {
  rapideye::logs::LineSplitter splitter;
  std::vector<std::string> lines;
  const auto sink = [&](absl::string_view line) {
    rapideye::Require(!line.empty() && line.size() <= rapideye::logs::kMaxLogLineBytes,
                      "lines are bounded");
    lines.push_back(absl::StrCat(splitter.number(), ":", std::string(line)));
  };
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    splitter.Add(bytes.substr(0, piece), sink);
  }
  splitter.Finish(sink);
  return lines;
}

void Check(const rapideye::logs::LogLine& found) {
  using rapideye::Require;
  const rapideye::LogEvent& event = found.event;
  Require(event.kind != rapideye::LogKind::kUnspecified && !found.key.empty(), "it is an event");
  Require(event.text.size() <= rapideye::logs::kMaxLogTextBytes, "its text is bounded");
  Require(event.pc.value_or(0) >= 0 || event.sequencer.has_value(), "a pc has its sequencer");
  Require(!event.chip.has_value(), "a job's log names no chip");
  if (found.hang_report.has_value()) {
    Require(found.hang_report->pending_graphs >= 0 && found.hang_report->completed >= 0 &&
                found.hang_report->timeout_ms >= 0,
            "counts and durations are not negative");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::Require;
  if (size == 0) return 0;
  const absl::string_view log(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> lines = Split(log, log.size());
  Require(lines == Split(log, size_t{1} + data[0] % 64), "pieces make no difference");
  rapideye::logs::LogContext context;
  for (const std::string& numbered : lines) {
    const std::string line = numbered.substr(numbered.find(':') + 1);
    context.Take(line, {}, [](const rapideye::logs::LogLine& found) { Check(found); });
  }
  return 0;
}
