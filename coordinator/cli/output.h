// Writes to standard output and standard error of the command.
#ifndef RAPIDEYE_COORDINATOR_CLI_OUTPUT_H_
#define RAPIDEYE_COORDINATOR_CLI_OUTPUT_H_

#include <string>

#include "absl/status/status.h"

namespace rapideye::cli {

// The format of Complain: "rapideye: <message>", or a record as daemons log them.
void SetComplaintFormat(bool json);

// Writes one line to standard error.
void Complain(const std::string& message);

// Complains about the error; returns its exit status: 2 if an argument of the command is wrong
// (INVALID_ARGUMENT), otherwise 1.
int Fail(const absl::Status& error);

// A path as a message shows it: paths may be long and hold anything.
std::string ShownPath(const std::string& path);

// True if standard output is a terminal, and neither NO_COLOR nor TERM=dumb forbids colours.
bool ObeysColours();

// Writes `text` to standard output and checks that it got there: a full disk or
// a reader that has gone must not pass for success. False, with a complaint, if it
// did not.
bool Print(const std::string& text);
// The document with the characters visible that a terminal would obey: control characters but new
// lines, and characters that reorder or hide text. A digest is unchanged.
std::string ShownDocument(const std::string& document);
// Prints a document of a coordinator, which may be another tenant's: text as ShownDocument makes
// it, other formats so on a terminal only, since programs read them.
bool PrintDocument(const std::string& document, const std::string& format);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_OUTPUT_H_
