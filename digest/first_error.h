// FindFirstError dates the beginning of the trouble and states its type.
#ifndef RAPIDEYE_DIGEST_FIRST_ERROR_H_
#define RAPIDEYE_DIGEST_FIRST_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// "2026-10-03T09:14:20.139Z"; nullopt outside the years that RFC 3339 can write.
std::optional<std::string> FormatUtc(int64_t unix_ms);

// The moment of detection minus the culprits' largest age; without a culprit
// the moment of detection itself. A core may have stopped up to a poll before the one that first
// showed it standing: beyond a second this is told as uncertainty.
FirstError FindFirstError(const Capture& capture, const Verdict& verdict);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_FIRST_ERROR_H_
