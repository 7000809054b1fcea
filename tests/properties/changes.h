// Changes a capture so that the verdict must stay the same, or nearly.
#ifndef RAPIDEYE_TESTS_PROPERTIES_CHANGES_H_
#define RAPIDEYE_TESTS_PROPERTIES_CHANGES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/random.h"

namespace rapideye::properties {

using scenarios::Random;

// Gives another order to all that has none of its own: snapshots, cores, program
// tables, sequencers, connections, log events, cohorts, expected workers.
Capture Shuffled(Capture capture, Random random);

// Removes the snapshot of one worker. If it named an instruction, another worker that stands
// there names it instead: the coordinator asks one runtime for each place.
Capture Without(Capture capture, const WorkerId& worker);

// Adds noise that bystanders show in any hang, at one worker: follow-on lines, old news,
// retransmits that got through, correctable errors, a short wait for input.
Capture WithNoiseAt(Capture capture, const WorkerId& worker, Random random);

// Gives every host another name of the same length, wherever it is named.
struct Renaming {
  std::map<std::string, std::string, std::greater<>> names;  // old -> new, longest first

  std::string Apply(std::string text) const;
};
Renaming MakeRenaming(const Capture& capture, Random random);
Capture Renamed(Capture capture, const Renaming& renaming);

// Adds a copy of one slice: the same positions and cohort, on other hosts.
Capture WithSliceTwice(Capture capture, int32_t slice, int32_t as);

}  // namespace rapideye::properties

#endif  // RAPIDEYE_TESTS_PROPERTIES_CHANGES_H_
