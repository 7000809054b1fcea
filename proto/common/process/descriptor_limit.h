// RaiseDescriptorLimit lets the process have as many descriptors as it may.
#ifndef RAPIDEYE_PROTO_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_
#define RAPIDEYE_PROTO_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_

#include <cstdint>

namespace rapideye::program {

// Raises the soft limit to the hard one, and returns what holds then. Login shells, Slurm steps
// and containers often start programs with a soft limit of 1024, for the sake of select().
int64_t RaiseDescriptorLimit();

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_
