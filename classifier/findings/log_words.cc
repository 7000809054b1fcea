#include "classifier/findings/log_words.h"

#include <algorithm>
#include <array>

#include "proto/common/text/search.h"

namespace rapideye::classifier {

bool HoldsAny(std::string_view line, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [line](std::string_view word) {
    return text::ContainsIgnoreCase(line, word);
  });
}

const LogEvent* LastOf(const Snapshot* snapshot, LogKind kind) {
  const LogEvent* last = nullptr;
  if (snapshot == nullptr) return last;
  for (const LogEvent& event : snapshot->log_events) {
    if (event.kind == kind) last = &event;
  }
  return last;
}

const LogEvent* FailedLoader(const Snapshot* snapshot) {
  static constexpr std::array<std::string_view, 6> kWords = {
      "` failed",  "failed with", "exited unexpectedly", "terminated unexpectedly",
      "killed by", "Bus error"};
  const LogEvent* event = LastOf(snapshot, LogKind::kInputWait);
  const bool failed =
      event != nullptr && std::any_of(kWords.begin(), kWords.end(), [event](std::string_view word) {
        return text::Contains(event->text, word);
      });
  return failed ? event : nullptr;
}

const LogEvent* OwnPort(const Snapshot& snapshot) {
  static constexpr std::array<std::string_view, 6> kWords = {
      "port error",   "PORT_ERR",          "local catastrophic error",
      "DEVICE_FATAL", "async fatal event", "ink is down"};
  for (const LogEvent& event : snapshot.log_events) {
    if (event.kind != LogKind::kNicFault) continue;
    for (std::string_view word : kWords) {
      if (text::ContainsIgnoreCase(event.text, word)) return &event;
    }
  }
  return nullptr;
}

std::optional<HostActivity> Begun(std::string_view line) {
  if (!HoldsAny(line, {"ing "})) return std::nullopt;
  if (HoldsAny(line, {"restoring", "loading checkpoint", "reading checkpoint"})) {
    return HostActivity::kCheckpointRestore;
  }
  if (HoldsAny(line, {"saving", "serializing", "writing checkpoint"})) {
    return HostActivity::kCheckpointSave;
  }
  if (HoldsAny(line, {"compiling"})) return HostActivity::kCompilation;
  if (HoldsAny(line, {"loading", "reading", "downloading", "fetching"})) {
    return HostActivity::kStorageRead;
  }
  return std::nullopt;
}

}  // namespace rapideye::classifier
