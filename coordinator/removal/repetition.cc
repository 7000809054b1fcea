#include "coordinator/removal/repetition.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace rapideye::coordinator {
namespace {

constexpr std::string_view kIciLink = "ICI_LINK";  // DetailName

// A place in a job: restarts put other machines there.
using Coordinate = std::tuple<std::string, int64_t, int64_t>;  // job, slice, task

Coordinate CoordinateOf(const HangEvent& event) { return {event.job, event.slice, event.task}; }

// What counts against a machine, and what exonerates it.
bool SpeaksOfHardware(const HangEvent& event) { return event.grounds != Grounds::kNever; }

// Of one job, or of one compilation: the same mistake could be in both.
bool Related(const HangEvent& a, const HangEvent& b) {
  const bool known = a.fingerprint.has_value() && b.fingerprint.has_value();
  return a.job == b.job || !known || a.fingerprint == b.fingerprint;
}

bool Independent(const HangEvent& a, const HangEvent& b) {
  const bool same_place = a.slice == b.slice && a.task == b.task;
  return a.incident != b.incident && (!same_place || !Related(a, b));
}

// The machines that were at the other end in every one of `incidents`.
std::set<std::string> AlwaysThere(const std::set<std::string>& incidents,
                                  const std::map<std::string, std::set<std::string>>& others) {
  std::set<std::string> always;
  bool first = true;
  for (const std::string& incident : incidents) {
    const auto found = others.find(incident);
    const std::set<std::string> here =
        found == others.end() ? std::set<std::string>() : found->second;
    if (std::exchange(first, false)) {
      always = here;
    } else {
      std::erase_if(always, [&](const std::string& machine) { return !here.contains(machine); });
    }
  }
  return always;
}

}  // namespace

Repetition CountRepetition(const std::string& machine, const std::vector<HangEvent>& events,
                           absl::Time since) {
  std::set<Coordinate> failed_elsewhere;  // on other hardware
  std::map<std::string, std::set<std::string>> other_ends;
  std::map<std::string, std::vector<const HangEvent*>> incidents;
  for (const HangEvent& event : events) {
    if (event.at < since || !SpeaksOfHardware(event)) continue;
    if (event.machine == machine) {
      incidents[event.incident].push_back(&event);
    } else {
      failed_elsewhere.insert(CoordinateOf(event));
      if (event.detail == kIciLink) other_ends[event.incident].insert(event.machine);
    }
  }

  Repetition result;
  std::set<std::string> links;  // incidents about a link of the machine
  std::vector<const HangEvent*> counted;
  for (const auto& [incident, here] : incidents) {
    const bool exonerated = std::any_of(here.begin(), here.end(), [&](const HangEvent* event) {
      return failed_elsewhere.contains(CoordinateOf(*event));
    });
    if (exonerated) {
      ++result.exonerated;
      continue;
    }
    if (here.front()->detail == kIciLink) links.insert(incident);
    counted.insert(counted.end(), here.begin(), here.end());
  }
  // A link has two ends; the one that is in all of them is known only if no other is.
  if (!AlwaysThere(links, other_ends).empty()) {
    result.two_ended = links.size();
    std::erase_if(counted, [&](const HangEvent* event) { return links.contains(event->incident); });
  }
  std::set<std::string> remaining;
  for (const HangEvent* event : counted) remaining.insert(event->incident);
  result.counted = remaining.size();
  for (const HangEvent* a : counted) {
    result.independent =
        result.independent || std::any_of(counted.begin(), counted.end(),
                                          [&](const HangEvent* b) { return Independent(*a, *b); });
  }
  return result;
}

}  // namespace rapideye::coordinator
