#include "classifier/logs/collector.h"

#include "classifier/logs/limits.h"

namespace rapideye::logs {

EventCollector::EventCollector(const SignatureTable& signatures, LogReading& reading)
    : reading_(reading) {
  options_.signatures = &signatures;
}

void EventCollector::Take(absl::string_view line, LogContext& context, bool old) {
  context.Take(line, options_, [this, old](LogLine found) { Keep(std::move(found), old); });
}

void EventCollector::Keep(LogLine found, bool old) {
  if (found.event.kind == LogKind::kBenign) return;
  const auto same = known_.find({found.key, old});
  if (same != known_.end()) {
    ++reading_.lines[same->second].repeats;
  } else if (reading_.lines.size() < kMaxLogLinesPerLook) {
    found.old = old;
    known_.emplace(std::pair(found.key, old), reading_.lines.size());
    reading_.lines.push_back(std::move(found));
  }
}

}  // namespace rapideye::logs
