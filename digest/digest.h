// Renders a capture and its verdict as text, JSON and an explanation. Pure, thread-safe.
#ifndef RAPIDEYE_DIGEST_DIGEST_H_
#define RAPIDEYE_DIGEST_DIGEST_H_

#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// The layout of the "TPU states" part of the text; readers of both exist.
enum class TextFormat { kClassic, kGrouped };

// Builds the one model that all renderers print. Total and pure; cheap enough
// to call for 100,000 workers.
Report BuildReport(const Capture& capture, const Verdict& verdict, const ReportContext& context);

// The digest's text, newline-terminated lines, each at most 8 KiB, under 200
// lines whatever the size of the job. Nothing a worker sent can forge a line.
std::string RenderText(const Report& report, TextFormat format);

// How the verdict was reached (--explain): who stands where, which group waits for which, what
// ends the chain, which evidence decided, what was considered and why it was not, then the steps
// of the decision and the evidence that was lacking.
std::string RenderExplanation(const Report& report);

// The digest's JSON (schemaVersion 1), one object. `pretty` indents by two;
// otherwise the object is one line without a newline at its end.
std::string RenderJson(const Report& report, bool pretty);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_DIGEST_H_
