// Groups the cores of a capture by launch, program and position.
#ifndef RAPIDEYE_DIGEST_TPU_STATES_H_
#define RAPIDEYE_DIGEST_TPU_STATES_H_

#include <vector>

#include "digest/report_model.h"

namespace rapideye::digest {

// `workers` is Report::workers (sorted by id); snapshots of others are left
// out. Cores named by `culprits` are marked.
std::vector<ProgramGroup> GroupTpuStates(const Capture& capture,
                                         const std::vector<ReportWorker>& workers,
                                         const std::vector<Culprit>& culprits);

// Whether `culprit` means this core of its worker. One that names no core index
// means all that fit except SparseCores that run nothing: that is their normal
// state.
bool Means(const Culprit& culprit, const Core& core);

// The sequencer that says where a core stands: its own one rather than those of
// its tiles. Null if the core has none.
const Sequencer* MainSequencer(const Core& core);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_TPU_STATES_H_
