// AppendTpuStates writes the "TPU states" part of the text; the others format its parts.
#ifndef RAPIDEYE_DIGEST_TEXT_STATES_H_
#define RAPIDEYE_DIGEST_TEXT_STATES_H_

#include <string>

#include "digest/digest.h"
#include "digest/report_model.h"
#include "digest/text_lines.h"

namespace rapideye::digest {

// "<job>/<task id>:<host>", escaped.
std::string WorkerText(const Report& report, const ReportWorker& worker);

// "0x1f03"; "?" if not reported.
std::string PcText(const std::optional<int64_t>& pc);

// "2:0x1f03(all-reduce.3)"; "idle" or "unknown" in place of an instruction.
std::string PositionText(const Position& position);

// "none" for cores that run no program, "unknown" if it has no name.
std::string ModuleText(const ProgramGroup& group);
std::string FingerprintText(const ProgramGroup& group);

// Appends the heading and the groups, at most about 80 lines; groups and
// positions that hold a culprit are shown before larger ones.
void AppendTpuStates(const Report& report, TextFormat format, TextLines& lines);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_TEXT_STATES_H_
