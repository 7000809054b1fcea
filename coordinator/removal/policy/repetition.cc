#include "coordinator/removal/policy/repetition.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace rapideye::coordinator {
namespace {

constexpr std::string_view kIciLink = "ICI_LINK";  // DetailName

// True for events that count against a machine, or exonerate it.
bool SpeaksOfHardware(const HangEvent& event) {
  return GroundsAllowed(event.cause, event.detail, event.grounds) != Grounds::kNever;
}

// After a restart another machine may stand at the same place.
bool SamePlace(const HangEvent& a, const HangEvent& b) {
  return a.slice == b.slice && a.task == b.task;
}

// True for events of one job, or of one compilation, which a job that is submitted again under
// another name runs, too: both hold the same mistake.
bool SameProgram(const HangEvent& a, const HangEvent& b) {
  return a.job == b.job || (a.fingerprint.has_value() && a.fingerprint == b.fingerprint);
}

// True if both events could be of one program, as far as programs are known.
bool Related(const HangEvent& a, const HangEvent& b) {
  return SameProgram(a, b) || !a.fingerprint.has_value() || !b.fingerprint.has_value();
}

// Of several workers on a machine each may fail in turn: the machine has not moved for that.
bool StoodElsewhere(const HangEvent& a, const HangEvent& b) {
  return a.home_slice.value_or(a.slice) != b.home_slice.value_or(b.slice) ||
         a.home_task.value_or(a.task) != b.home_task.value_or(b.task);
}

bool Independent(const HangEvent& a, const HangEvent& b) {
  return a.incident != b.incident && (StoodElsewhere(a, b) || !Related(a, b));
}

// Tells whether this end of the links of `incidents` is bad: at least two of them must be left
// without the other end that was there most often, since that machine could be bad, too.
bool OneEndRepeats(const std::set<std::string>& incidents,
                   const std::map<std::string, std::set<std::string>>& other_ends) {
  std::map<std::string, size_t> times;
  size_t most = 0;
  bool both_seen = false;
  for (const std::string& incident : incidents) {
    const auto found = other_ends.find(incident);
    if (found == other_ends.end()) continue;
    both_seen = true;
    for (const std::string& machine : found->second) most = std::max(most, ++times[machine]);
  }
  constexpr size_t kLeft = 2;
  return !both_seen || incidents.size() - most >= kLeft;
}

}  // namespace

Repetition CountRepetition(const std::string& machine, const std::vector<HangEvent>& events,
                           absl::Time since, absl::Time until) {
  std::vector<const HangEvent*> elsewhere;  // on other hardware
  std::map<std::string, std::set<std::string>> other_ends;
  std::map<std::string, std::vector<const HangEvent*>> incidents;
  for (const HangEvent& event : events) {
    if (event.at < since || !SpeaksOfHardware(event)) continue;
    if (event.machine == machine) {
      if (event.at > until) continue;
      incidents[event.incident].push_back(&event);
    } else {
      elsewhere.push_back(&event);
      if (event.detail == kIciLink) other_ends[event.incident].insert(event.machine);
    }
  }

  Repetition result;
  std::set<std::string> links;  // incidents about a link of the machine
  std::vector<const HangEvent*> counted;
  for (const auto& [incident, here] : incidents) {
    const bool exonerated = std::any_of(here.begin(), here.end(), [&](const HangEvent* event) {
      return std::any_of(elsewhere.begin(), elsewhere.end(), [event](const HangEvent* other) {
        return SamePlace(*event, *other) && SameProgram(*event, *other);
      });
    });
    if (exonerated) {
      ++result.exonerated;
      continue;
    }
    if (here.front()->detail == kIciLink) links.insert(incident);
    counted.insert(counted.end(), here.begin(), here.end());
  }
  if (!OneEndRepeats(links, other_ends)) {
    result.two_ended = links.size();
    std::erase_if(counted, [&](const HangEvent* event) { return links.contains(event->incident); });
  }
  for (const HangEvent* event : counted) result.counted.insert(event->incident);
  for (const HangEvent* a : counted) {
    result.independent =
        result.independent || std::any_of(counted.begin(), counted.end(),
                                          [&](const HangEvent* b) { return Independent(*a, *b); });
  }
  return result;
}

}  // namespace rapideye::coordinator
