// Bounds reading of XLA's dumps, which is done in a hang only.
#ifndef RAPIDEYE_AGENT_SOURCES_HLO_DUMP_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_HLO_DUMP_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace rapideye::agent {

// Entries of the directory: a job that dumps every pass of hundreds of modules writes
// tens of thousands.
inline constexpr size_t kMaxDumpEntries = 200'000;
// Dumps whose first lines are looked at, the latest ones first.
inline constexpr size_t kMaxDumpsLookedInto = 128;
// Bytes of a text that are read to find the module's attributes: the layouts of all
// arguments of a large model come before them.
inline constexpr size_t kMaxDumpBeginningBytes = 128 * 1024;
inline constexpr size_t kDumpReadBytes = 256 * 1024;
// Texts of which fingerprints are taken where the runtime gives none: of one program (more
// than most; a longer one stays without), and of all that are read at one look.
inline constexpr int64_t kMaxFingerprintedBytes = 32 * 1024 * 1024;
inline constexpr int64_t kMaxFingerprintedBytesPerLook = 128 * 1024 * 1024;
inline constexpr size_t kMaxDumpsFingerprinted = 4096;
// Time for the fingerprints of one look, at about 50 MB/s of a core; later looks take the rest.
inline constexpr absl::Duration kFingerprintDeadline = absl::Seconds(2);
// Texts in which instructions are looked up: larger than any that is known, and as much memory.
inline constexpr int64_t kMaxLookedUpBytes = 128 * 1024 * 1024;
// Execution options, which hold the device assignment: 60 bytes for a device.
inline constexpr int64_t kMaxAssignmentBytes = 16 * 1024 * 1024;
// Longest wait of a sample with HLO for this look-up, at about 100 MB/s of a core.
inline constexpr absl::Duration kInstructionPatience = absl::Seconds(1);
// Programs that go into a snapshot: jobs compile tens for all of their devices.
inline constexpr size_t kMaxDumpedPrograms = 256;
// Longest wait of the snapshot of a second look for these programs.
inline constexpr absl::Duration kHloDumpPatience = absl::Seconds(2);
// Time to list the names in the directory, which delays no thread, and how often.
inline constexpr absl::Duration kHloDumpDeadline = absl::Seconds(1);
inline constexpr absl::Duration kHloDumpSpacing = absl::Seconds(10);
// Whatever a coordinator asks, a text is not read more often than this: to compress a
// large one takes a second of a core.
inline constexpr absl::Duration kModuleTextSpacing = absl::Seconds(1);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_LIMITS_H_
