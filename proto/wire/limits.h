// Bounds on what is accepted from outside, in one place, each with its reason.
//
// All are far above what a real job shows: they keep a broken or hostile peer
// from costing memory or time without bound, and refuse nothing that is real.
#ifndef RAPIDEYE_PROTO_WIRE_LIMITS_H_
#define RAPIDEYE_PROTO_WIRE_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace rapideye::wire {

// Identity: ten times the largest job this is meant for (100,000 workers).
inline constexpr int32_t kMaxWorkers = 1'000'000;
// Slices of a job, and tasks of a slice: either alone may make up the whole job.
inline constexpr int32_t kMaxSlices = kMaxWorkers;
inline constexpr int32_t kMaxTasksPerSlice = kMaxWorkers;

// Names (hosts, modules, instructions, NICs): the longest real ones are mangled
// HLO names of a few KiB.
inline constexpr size_t kMaxNameBytes = 16 * 1024;
// Free text (log lines, errors, what the runtime says about an instruction).
inline constexpr size_t kMaxTextBytes = 1024 * 1024;
// Fingerprints are hashes: 8 to 32 bytes, in hex.
inline constexpr size_t kMaxFingerprintBytes = 256;

// Durations and counts: 2^53, the largest number that every JSON program holds
// exactly. Sums of a thousand of them still fit 64 bits.
inline constexpr int64_t kMaxMagnitude = int64_t{1} << 53;
// Wall-clock times are printed as RFC 3339, which ends with the year 9999.
inline constexpr int64_t kMaxUnixMs = 253'402'300'799'999;
// Intervals and deadlines that one daemon sets the other: a day is already a
// mistake, and timers take it without overflow.
inline constexpr int64_t kMaxIntervalMs = 24LL * 60 * 60 * 1000;

// Lists of a header.
inline constexpr int kMaxCohorts = 100'000;         // one per worker of the largest job
inline constexpr int kMaxSequenceEntries = 65'536;  // programs of one step

// A comparison of programs has two sides.
inline constexpr int kHloSides = 2;

// A module's text, compressed: it has to fit into one message (8 MiB) beside what
// else is in it.
inline constexpr size_t kMaxModuleTextGzipBytes = 8 * 1024 * 1024 - 64 * 1024;
// And decompressed: texts of large models have tens of MiB, and shrink to a tenth.
inline constexpr size_t kMaxModuleTextBytes = 64 * 1024 * 1024;

// Lists of a snapshot. A host has up to 8 chips with up to 6 cores each; an
// emulation or a proxy that stands for a whole pod may have thousands.
inline constexpr int kMaxCores = 65'536;
inline constexpr int kMaxSequencersPerCore = 1'024;  // SparseCore tiles: tens
inline constexpr int kMaxQueuedPerCore = 4'096;      // hosts run a few launches ahead
inline constexpr int kMaxTransitionsPerCore = 256;   // agents keep eight
inline constexpr int kMaxPrograms = 65'536;
inline constexpr int kMaxProcesses = 16'384;
// One per peer and NIC, when everyone talks to everyone.
inline constexpr int kMaxConnections = 262'144;
inline constexpr int kMaxNics = 4'096;
inline constexpr int kMaxIciLinks = 65'536;
inline constexpr int kMaxPcieCounters = 16'384;
inline constexpr int kMaxLogEvents = 65'536;
inline constexpr int kMaxStacks = 65'536;  // threads of a process
inline constexpr int kMaxMetrics = 16'384;
inline constexpr int kMaxMetricLabels = 64;
inline constexpr int kMaxChipHolders = 1'024;
inline constexpr int kMaxChipDevices = 1'024;     // of one of them
inline constexpr int kMaxFramesPerStack = 4'096;  // deep recursion

// Addresses of a host: a few NICs with a few each, and those of its containers.
inline constexpr int kMaxHostAddresses = 64;

// Addresses that an agent asks about at a time, and that it is told of.
inline constexpr int kMaxAddressesAsked = 64;

// Targets of one request for probes. A hang's are spread over several agents.
inline constexpr int kMaxProbeTargets = 16;

// Lists of a heartbeat, which comes every few seconds from every worker.
inline constexpr int kMaxHeartbeatPrograms = 1'024;
inline constexpr int kMaxHeartbeatQueue = 4'096;

// Captures: one record is one line of JSON or one binary message.
inline constexpr size_t kMaxRecordBytes = 64 * 1024 * 1024;
inline constexpr int kMaxNesting = 32;
// What one record may take in memory once parsed: a line of 64 MiB could
// otherwise hold twenty million empty objects, at a hundredfold of their size.
inline constexpr size_t kMaxRecordMemory = 160 * 1024 * 1024;
// What one message of an agent may take once parsed, beside its own bytes: ten
// times what the largest host needs. Without it 8 MiB of empty objects would take
// nearly a gigabyte.
inline constexpr size_t kMaxMessageMemory = 16 * 1024 * 1024;
// A whole capture, decompressed: 100,000 workers need about 1 GiB. Ends the
// reading of a decompression bomb.
inline constexpr uint64_t kMaxCaptureBytes = uint64_t{16} * 1024 * 1024 * 1024;

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_LIMITS_H_
