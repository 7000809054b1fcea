// Groups workers by where the main threads of their training processes stand.
#ifndef RAPIDEYE_DIGEST_STACK_GROUPS_H_
#define RAPIDEYE_DIGEST_STACK_GROUPS_H_

#include <string>
#include <vector>

#include "classifier/verdict/verdict.h"
#include "digest/report_model.h"
#include "proto/v1/evidence.h"

namespace rapideye::digest {

// Largest first, then by the first worker; those that hold a culprit are never left out. Two
// main threads stand alike if their frames of the program, with lines, and of libraries,
// without, are the same; what Python and the C library have inside, addresses and threads count
// for nothing. Workers of whom only the kernel tells are in none.
std::vector<StackGroup> GroupStacks(const Capture& capture,
                                    const std::vector<ReportWorker>& workers,
                                    const std::vector<Culprit>& culprits);

// "3 of 4 wait in process_allgather (multihost_utils.py); host-2 stands in read_shard
// (train.py:88), for 61 s"; empty: there are none. Escaped, and bounded to a line.
std::string StackGroupsText(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_STACK_GROUPS_H_
