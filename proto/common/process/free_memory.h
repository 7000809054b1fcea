// ReturnFreeMemory gives memory that the process has freed back to the system.
#ifndef RAPIDEYE_PROTO_COMMON_PROCESS_FREE_MEMORY_H_
#define RAPIDEYE_PROTO_COMMON_PROCESS_FREE_MEMORY_H_

#include <cstddef>

namespace rapideye {

// The C library keeps what lies between blocks in use, in an arena for each of several threads: a
// peer that floods each of them in turn would have it keep gigabytes. Returns all if more than
// `kept` bytes are free, and true then. Takes milliseconds at most. Thread-safe.
bool ReturnFreeMemory(size_t kept);

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_PROCESS_FREE_MEMORY_H_
