// Bounds messages and captures from outside, each limit with its reason. The limits of one field
// stand at the field, in the .proto.
//
// All limits are far above what a real job shows: they keep a broken or hostile peer from
// costing memory or time without bound, and refuse no real message.
#ifndef RAPIDEYE_PROTO_WIRE_LIMITS_H_
#define RAPIDEYE_PROTO_WIRE_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace rapideye::wire {

// Identity: ten times the largest job this is meant for (100,000 workers).
inline constexpr int32_t kMaxWorkers = 1'000'000;

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

// A module's text, decompressed: texts of large models have tens of MiB, and shrink to a
// tenth.
inline constexpr size_t kMaxModuleTextBytes = 64 * 1024 * 1024;

// Captures: one record is one line of JSON or one binary message.
inline constexpr size_t kMaxRecordBytes = 64 * 1024 * 1024;
inline constexpr int kMaxNesting = 32;
// Memory that one record may take once parsed: a line of 64 MiB could
// otherwise hold twenty million empty objects, at a hundredfold of their size.
inline constexpr size_t kMaxRecordMemory = 160 * 1024 * 1024;
// Memory that one message of an agent may take once parsed, beside its own bytes: ten
// times what the largest host needs. Without it 8 MiB of empty objects would take
// nearly a gigabyte.
inline constexpr size_t kMaxMessageMemory = 16 * 1024 * 1024;
// A whole capture, decompressed: 100,000 workers need about 1 GiB. Ends the
// reading of a decompression bomb.
inline constexpr uint64_t kMaxCaptureBytes = uint64_t{16} * 1024 * 1024 * 1024;

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_LIMITS_H_
