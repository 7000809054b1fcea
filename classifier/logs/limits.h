// Bounds the recognition of log lines, each limit with its reason.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LIMITS_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace rapideye::logs {

// The longest line seen of a runtime is a few KiB; of a longer line only the beginning is
// looked at.
inline constexpr size_t kMaxLogLineBytes = 64 * 1024;
// Looks without new bytes after which a line without an end counts as a line.
inline constexpr int kLogQuietLooks = 2;
// Bytes kept of a line.
inline constexpr size_t kMaxLogTextBytes = 2 * 1024;
// Names in a line: of a module, an instruction, a sequencer.
inline constexpr size_t kMaxLogNameBytes = 256;
// Logs that are told apart, as many as a coordinator has workers: a program may print any label.
inline constexpr size_t kMaxLogs = 20'000;
// Distinct events of one reading; more of them add no evidence.
inline constexpr size_t kMaxLogLinesPerLook = 256;
// Lines that other threads write into a traceback before its last line comes.
inline constexpr int kMaxStrangeTracebackLines = 100;
// The prefix that a launcher or a logger puts before each line: its time, its process.
inline constexpr size_t kMaxLinePrefixBytes = 160;
// Tasks that one message of the coordination service names; it names some of them.
inline constexpr size_t kMaxListedTasks = 100;
// Threads of a dump that are kept, their frames, and bytes of a frame.
inline constexpr size_t kMaxLoggedThreads = 32;
inline constexpr size_t kMaxLoggedFrames = 48;
inline constexpr size_t kMaxLoggedFrameBytes = 160;
// Processes whose dumps somebody collected in one file.
inline constexpr size_t kMaxLoggedProcesses = 1'024;
// The part of a line that is searched for its step: tables of metrics name the step first.
inline constexpr size_t kStepLineBytes = 1024;
// Shapes of lines with such numbers that are followed at once; the shapes whose last growth is
// the oldest make room.
inline constexpr size_t kMaxStepShapes = 32;
// A shape tells steps once its number has grown so often, and this many times as often as
// it has fallen. A loop counts anew in each epoch; a number drawn at random falls every other
// time.
inline constexpr int64_t kLeastRises = 2;
// So many steps that stand there several times show that several processes write a log.
inline constexpr int64_t kLeastRepeated = 5;
inline constexpr int64_t kRisesPerFall = 3;
// Lines of several ranks in one log may differ by about so many steps.
inline constexpr int64_t kStepTolerance = 1;
// The shape whose step is told gives way after so many rises of others without one of its own.
inline constexpr int64_t kRisesToGiveWay = 16;
// Steps of one log whose times are kept: the last minutes of its lane on a page.
inline constexpr size_t kMaxStepTimes = 64;
// A larger number is no step: that many steps of 1 ms take a century.
inline constexpr int64_t kMaxStep = 3'000'000'000'000;
// Time, thread, file and a launcher's label before the text of a line of glog.
inline constexpr size_t kMaxFatalPrefixBytes = 256;
// Limits of an operator's signatures; a text of fewer bytes would appear in
// too many lines.
inline constexpr size_t kMaxSignatures = 1'000;
inline constexpr size_t kMaxSignatureFileBytes = 1024 * 1024;
inline constexpr size_t kMinSignatureBytes = 4;
// Bytes for the automaton that looks for all signatures at once; the built-in signatures
// need a tenth of them.
inline constexpr int64_t kSignatureAutomatonBytes = 16 * 1024 * 1024;

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LIMITS_H_
