#include "agent/core/alarms.h"

#include <utility>

#include "agent/core/limits.h"
#include "agent/sources/limits.h"

namespace rapideye::agent {

void Alarms::Raise(wire::AlarmKind kind, std::string text, absl::Duration now) {
  const auto last = last_.find(kind);
  if (last != last_.end() && now - last->second < kAlarmSpacing) return;
  last_[kind] = now;
  if (text.size() > kMaxDetailBytes) text.resize(kMaxDetailBytes);
  waiting_[kind] = {std::move(text), now};
}

std::vector<wire::Alarm> Alarms::Waiting(absl::Duration now) const {
  std::vector<wire::Alarm> alarms;
  for (const auto& [kind, alarm] : waiting_) {
    if (now - alarm.at <= kKeepAlarmFor) alarms.push_back({kind, alarm.text});
  }
  return alarms;
}

void Alarms::Send(absl::Duration now, Effects& effects) {
  for (auto& [kind, alarm] : waiting_) {
    if (now - alarm.at > kKeepAlarmFor) continue;
    effects.push_back(agent::Send{wire::Alarm{kind, std::move(alarm.text)}});
  }
  waiting_.clear();
}

}  // namespace rapideye::agent
