// Transcript holds commands and their results, read from a text file that reviews
// read.
//
//   # What this file proves.
//
//   command                    one or more, carried out in their order
//   command
//   ----
//   what came of it            one line each, up to the next empty line
//
// Lines that begin with # are comments, kept by a rewrite.
#ifndef RAPIDEYE_TESTS_TRANSCRIPTS_TRANSCRIPT_H_
#define RAPIDEYE_TESTS_TRANSCRIPTS_TRANSCRIPT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/transcripts/command.h"

namespace rapideye::transcripts {

// A core with what moves it by hand.
class Script {
 public:
  virtual ~Script() = default;
  // Carries out one command; appends what came of it, a line each.
  virtual absl::Status Run(Command& command, std::vector<std::string>& output) = 0;
};

struct Line {
  int number = 0;
  std::string text;
};

struct Block {
  std::vector<Line> commands;  // comments and empty lines among them
  std::vector<std::string> output;
};

struct Transcript {
  std::vector<Block> blocks;
  std::vector<Line> rest;  // behind the last block
};

// INVALID_ARGUMENT if the text does not begin with a comment, or holds commands
// without "----".
absl::StatusOr<Transcript> ParseTranscript(const std::string& text);
std::string FormatTranscript(const Transcript& transcript);

// Runs all commands and puts what came of them in place of the output. The error
// of a command names its line.
absl::Status Execute(Transcript& transcript, Script& script);

}  // namespace rapideye::transcripts

#endif  // RAPIDEYE_TESTS_TRANSCRIPTS_TRANSCRIPT_H_
