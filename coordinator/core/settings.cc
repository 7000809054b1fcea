#include "coordinator/core/settings.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace rapideye::coordinator {

void DropCommonSettings(std::vector<Snapshot>& snapshots) {
  struct Seen {
    const Setting* first = nullptr;
    size_t workers = 0;
    bool differs = false;
  };
  size_t readers = 0;
  std::map<std::pair<SettingKind, std::string>, Seen> seen;
  for (const Snapshot& snapshot : snapshots) {
    readers += snapshot.settings.empty() ? 0 : 1;
    for (const Setting& setting : snapshot.settings) {
      Seen& one = seen[{setting.kind, setting.name}];
      if (one.first == nullptr) one.first = &setting;
      one.differs |= one.first->value != setting.value || one.first->hash != setting.hash;
      ++one.workers;
    }
  }
  // Comparisons refer to the first setting of each kind and name, so they come before any move.
  std::map<std::pair<SettingKind, std::string>, bool> common;
  for (const auto& [key, one] : seen) common[key] = one.workers == readers && !one.differs;
  for (Snapshot& snapshot : snapshots) {
    if (snapshot.settings.empty()) continue;
    const Setting kept = snapshot.settings.front();
    std::erase_if(snapshot.settings,
                  [&](const Setting& setting) { return common.at({setting.kind, setting.name}); });
    if (snapshot.settings.empty()) snapshot.settings.push_back(kept);
  }
}

}  // namespace rapideye::coordinator
