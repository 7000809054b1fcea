// Formats the state of a job, for people and for programs.
#ifndef RAPIDEYE_COORDINATOR_CLI_STATUS_TEXT_H_
#define RAPIDEYE_COORDINATOR_CLI_STATUS_TEXT_H_

#include <string>

#include "v1/operator.pb.h"

namespace rapideye::cli {

// Some lines; what the coordinator sent is escaped.
std::string StatusText(const v1::GetStatusReply& status);

// One object in one line, with its newline. Durations in milliseconds; what was not
// reported is left out.
std::string StatusJson(const v1::GetStatusReply& status);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_STATUS_TEXT_H_
