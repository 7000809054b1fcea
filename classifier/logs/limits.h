// Limits of recognising log lines, each with its reason.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LIMITS_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace rapideye::logs {

// The longest line of a runtime that was seen is a few KiB; of a longer one the
// beginning is looked at.
inline constexpr size_t kMaxLogLineBytes = 64 * 1024;
// Looks without news after which a line without an end counts as a line.
inline constexpr int kLogQuietLooks = 2;
// What of a line is kept.
inline constexpr size_t kMaxLogTextBytes = 2 * 1024;
// Names in a line: of a module, an instruction, a sequencer.
inline constexpr size_t kMaxLogNameBytes = 256;
// Distinct events of one look; more of them tell no more.
inline constexpr size_t kMaxLogLinesPerLook = 256;
// Lines that other threads write into a traceback before its last line comes.
inline constexpr int kMaxStrangeTracebackLines = 100;
// Tasks that one message of the coordination service names; it names some of them.
inline constexpr size_t kMaxListedTasks = 100;
// What an operator adds to the signatures; a text of fewer bytes is to be found in
// too many lines.
inline constexpr size_t kMaxSignatures = 1'000;
inline constexpr size_t kMaxSignatureFileBytes = 1024 * 1024;
inline constexpr size_t kMinSignatureBytes = 4;
// States of the automaton that looks for all signatures at once; the built-in ones
// need a tenth of it.
inline constexpr int64_t kSignatureAutomatonBytes = 16 * 1024 * 1024;

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LIMITS_H_
