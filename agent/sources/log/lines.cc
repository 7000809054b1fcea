#include "agent/sources/log/lines.h"

#include <utility>

#include "agent/limits.h"

namespace rapideye::agent {

void LineSplitter::Add(absl::string_view bytes, std::vector<std::string>& lines) {
  if (!bytes.empty()) quiet_looks_ = 0;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (!skipping_) {
      const absl::string_view fits =
          bytes.substr(0, end).substr(0, kMaxLogLineBytes - partial_.size());
      partial_.append(fits.data(), fits.size());
    }
    if (end == absl::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    skipping_ = false;
    Finish(lines);
  }
}

void LineSplitter::Quiet(std::vector<std::string>& lines) {
  if (partial_.empty() || ++quiet_looks_ < kLogQuietLooks) return;
  Finish(lines);
}

void LineSplitter::Finish(std::vector<std::string>& lines) {
  if (!partial_.empty()) lines.push_back(std::exchange(partial_, {}));
}

void LineSplitter::SkipLine() {
  partial_.clear();
  skipping_ = true;
}

}  // namespace rapideye::agent
