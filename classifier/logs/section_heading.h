// SectionName reads the line above the log of one worker where somebody has put the logs of several
// into one file.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_SECTION_HEADING_H_
#define RAPIDEYE_CLASSIFIER_LOGS_SECTION_HEADING_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace rapideye::logs {

// The path or the worker that such a line names: "logs/rank-2.log" of "==> logs/rank-2.log <==" (as
// tail writes it), "rank 3" of "=== rank 3 ===", "train-0-3-x2k2q" of "Pod train-0-3-x2k2q:".
// Empty: the line says more, or something else.
absl::string_view SectionName(absl::string_view line);

// True if the first lines of a file show that it consists of such sections: it begins with a
// heading, each heading has lines below it, and none is a dump of stacks, whose headings are read
// with the dumps. A log that several workers share holds such lines only amid others.
bool HasSections(const std::vector<absl::string_view>& lines);

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_SECTION_HEADING_H_
