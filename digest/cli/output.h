// Standard output and standard error of the command.
#ifndef RAPIDEYE_DIGEST_CLI_OUTPUT_H_
#define RAPIDEYE_DIGEST_CLI_OUTPUT_H_

#include <string>

namespace rapideye::cli {

// One line on standard error, "rapideye: <message>".
void Complain(const std::string& message);

// Writes `text` to standard output and checks that it got there: a full disk or
// a reader that has gone must not pass for success. False if it did not; that
// has been complained about.
bool Print(const std::string& text);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_DIGEST_CLI_OUTPUT_H_
