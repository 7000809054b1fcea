// CompareTexts compares the HLO texts of two workers, and the flags and the program that they were
// compiled from, and makes files of the texts. Pure.
#ifndef RAPIDEYE_COORDINATOR_STORE_TEXT_COMPARISON_H_
#define RAPIDEYE_COORDINATOR_STORE_TEXT_COMPARISON_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/core/events.h"
#include "coordinator/store/incident_store.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

struct ComparedTexts {
  HloComparison comparison;         // of the first two sides
  std::vector<HloComparison> more;  // of each further side with the second
  std::vector<IncidentFile> files;  // the texts, as they came
};

// Texts come from peers: a text that is no gzip, too large once decompressed, or of another
// module than was asked for is left out, and its side says why. Takes seconds for
// the largest. `sides` are at least two.
ComparedTexts CompareTexts(std::vector<GatheredText> sides);

// INVALID_ARGUMENT unless `gzip` is whole, and its text at most kMaxModuleTextBytes.
absl::StatusOr<std::string> Decompress(const std::string& gzip);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_TEXT_COMPARISON_H_
