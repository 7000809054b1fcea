// Formats the state of a job, for people and for programs.
#ifndef RAPIDEYE_COORDINATOR_CLI_STATUS_TEXT_H_
#define RAPIDEYE_COORDINATOR_CLI_STATUS_TEXT_H_

#include <string>

#include "v1/operator.pb.h"

namespace rapideye::cli {

// True while a hang is out: its digest is written, and the job has not advanced since.
bool Hangs(const v1::GetStatusReply& status);

// Some lines; texts from the coordinator are escaped. `colours`: for a terminal.
std::string StatusText(const v1::GetStatusReply& status, bool colours = false);

// One object in one line, with its newline. Durations are in milliseconds; unreported fields are
// left out.
std::string StatusJson(const v1::GetStatusReply& status);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_STATUS_TEXT_H_
