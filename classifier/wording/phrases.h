// Formats names, durations and quotes for sentences of evidence: bounded, the same everywhere.
#ifndef RAPIDEYE_CLASSIFIER_WORDING_PHRASES_H_
#define RAPIDEYE_CLASSIFIER_WORDING_PHRASES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"
#include "proto/common/text/count.h"

namespace rapideye::classifier {

// At most kQuoteBytes of it, cut at a character's boundary and marked as cut.
// Control characters stay: the renderers escape them.
std::string Quote(std::string_view text);

// "slice 2 task 6 (tpu-job-2-6)"
std::string Who(const WorkerInfo& worker);
// "slice 0 task 1 (a), slice 0 task 2 (b) and 7 more"
std::string WhoAll(const Topology& topology, const std::vector<int>& workers);

// "chip 0 TensorCore 1"; what is not known is left out.
std::string CoreName(const Core& core);

// "65 s", "1.5 s", "12 min"
std::string Span(int64_t ms);

// "all-reduce.3 (tag 4, pc 0x21b1) of jit_train_step"
std::string PlaceName(const Topology& topology, const Place& place);
// "jit_train_step", or "fingerprint 3daf1e27…" if its name is not known.
std::string ProgramName(const Topology& topology, int program);

using text::Count;

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WORDING_PHRASES_H_
