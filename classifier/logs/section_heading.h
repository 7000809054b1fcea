// SectionName reads the line above the log of one worker where somebody has put the logs of several
// into one file, or the stacks of several workers.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_SECTION_HEADING_H_
#define RAPIDEYE_CLASSIFIER_LOGS_SECTION_HEADING_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace rapideye::logs {

// The path or the worker that such a line names: "logs/rank-2.log" of "==> logs/rank-2.log <==" (as
// tail writes it), "rank 3" of "=== rank 3 ===", "train-0-3-x2k2q" of "Pod train-0-3-x2k2q:".
// Empty: the line says more, or something else.
absl::string_view SectionName(absl::string_view line);

// A name in one word for the worker of a heading: "rank-3" of "=== rank 3 ===" and of "The stack of
// rank 3:", "train-0-3" of "$ kubectl exec train-0-3 -- py-spy dump".
std::string NameInHeading(absl::string_view heading);

// True if the first lines of a file show that it consists of such sections: it begins with a
// heading, each heading has lines below it, and none is a dump of stacks, whose headings are read
// with the dumps. A log that several workers share holds such lines only amid others.
bool HasSections(const std::vector<absl::string_view>& lines);

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_SECTION_HEADING_H_
