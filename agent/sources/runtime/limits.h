// Bounds the answers of a TPU runtime. Parts that exceed these limits are left out and named in the
// detail of the runtime's state.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace rapideye::agent {

// An answer without HLO. Parsed messages take many times the memory of their
// bytes; one with HLO may take what the channel accepts.
inline constexpr size_t kMaxStatusBytes = 2 * 1024 * 1024;
// Memory of a parsed answer: that of the largest host takes less than 1 MiB, with HLO less than 4.
// Empty objects of two bytes each would take hundreds of MiB.
inline constexpr size_t kMaxStatusMemory = 32 * 1024 * 1024;
// The largest host has 8 devices of 2 TensorCores and 4 SparseCores.
inline constexpr size_t kMaxCores = 256;
// Global core ids count over a whole job: 100,000 hosts of 48 cores fit.
inline constexpr int32_t kMaxCoreId = (1 << 24) - 1;
// A SparseCore has one sequencer, and up to 16 tiles of two each.
inline constexpr size_t kMaxSequencersPerCore = 64;
// Hosts run a few launches ahead; a queue this long is already nonsense.
inline constexpr size_t kMaxQueuedPerCore = 128;
// One instruction as text; longer ones are cut.
inline constexpr size_t kMaxHloTextBytes = 4 * 1024;
// All HLO texts of one sample, so that a snapshot fits into one message.
inline constexpr size_t kMaxHloTextBytesPerSample = 1024 * 1024;
// A JSON array that describes one instruction.
inline constexpr size_t kMaxHloDetailBytes = 64 * 1024;
// The runtime's error text of a core; longer ones are cut.
inline constexpr size_t kMaxCoreErrorBytes = 2 * 1024;
// Complaints about one answer that are spelled out; the rest is counted.
inline constexpr size_t kMaxComplaints = 3;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_LIMITS_H_
