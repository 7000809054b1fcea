// TimelineSection draws the last minutes: a lane per slice or worker, with what moved until when.
#ifndef RAPIDEYE_DIGEST_HTML_TIMELINE_H_
#define RAPIDEYE_DIGEST_HTML_TIMELINE_H_

#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// Lanes, the order in which cores stopped, start-up, and how long the diagnosis took.
std::string TimelineSection(const Report& report);

// The recognised lines of the logs, oldest first; empty: there are none.
std::string LogSection(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_HTML_TIMELINE_H_
