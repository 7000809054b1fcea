#include "classifier/logs/lines.h"

#include <cstddef>

#include "classifier/logs/limits.h"

namespace rapideye::logs {

void LineSplitter::Add(absl::string_view bytes, Sink sink) {
  if (!bytes.empty()) quiet_looks_ = 0;
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    absl::string_view line = bytes.substr(0, newline);
    for (size_t end = line.find('\r'); end != absl::string_view::npos; end = line.find('\r')) {
      EndLine(line.substr(0, end), sink);
      line.remove_prefix(end + 1);
    }
    if (newline == absl::string_view::npos) {
      Keep(line);
      return;
    }
    EndLine(line, sink);
    ++newlines_;
    bytes.remove_prefix(newline + 1);
  }
}

void LineSplitter::EndLine(absl::string_view rest, Sink sink) {
  if (partial_.empty() && !skipping_) {
    if (!rest.empty()) sink(rest.substr(0, kMaxLogLineBytes));
    return;
  }
  Keep(rest);
  skipping_ = false;
  Finish(sink);
}

void LineSplitter::Keep(absl::string_view part) {
  if (skipping_) return;
  const absl::string_view fits = part.substr(0, kMaxLogLineBytes - partial_.size());
  partial_.append(fits.data(), fits.size());
}

void LineSplitter::Quiet(Sink sink) {
  if (partial_.empty() || ++quiet_looks_ < kLogQuietLooks) return;
  Finish(sink);
}

void LineSplitter::Finish(Sink sink) {
  if (partial_.empty()) return;
  sink(partial_);
  partial_.clear();
}

void LineSplitter::SkipLine() {
  partial_.clear();
  skipping_ = true;
}

}  // namespace rapideye::logs
