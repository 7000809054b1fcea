#include "tests/transcripts/transcript.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye::transcripts {
namespace {

constexpr const char* kRuler = "----";

bool IsCommand(const Line& line) { return !line.text.empty() && line.text[0] != '#'; }

}  // namespace

absl::StatusOr<Transcript> ParseTranscript(const std::string& text) {
  if (!absl::StartsWith(text, "# ")) {
    return absl::InvalidArgumentError("1: begins with a comment that says what it proves");
  }
  Transcript transcript;
  Block block;
  bool in_output = false;
  int number = 0;
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (std::string& line : lines) {
    ++number;
    if (in_output && !line.empty()) {
      block.output.push_back(std::move(line));
      continue;
    }
    if (in_output) {
      transcript.blocks.push_back(std::exchange(block, {}));
      in_output = false;
    }
    if (line == kRuler) {
      in_output = true;
    } else {
      block.commands.push_back({number, std::move(line)});
    }
  }
  if (in_output) transcript.blocks.push_back(std::exchange(block, {}));
  for (const Line& line : block.commands) {
    if (IsCommand(line)) {
      return absl::InvalidArgumentError(
          absl::StrCat(line.number, ": a command without ", kRuler, " behind it"));
    }
  }
  transcript.rest = std::move(block.commands);
  return transcript;
}

std::string FormatTranscript(const Transcript& transcript) {
  std::string text;
  for (const Block& block : transcript.blocks) {
    for (const Line& line : block.commands) absl::StrAppend(&text, line.text, "\n");
    absl::StrAppend(&text, kRuler, "\n");
    for (const std::string& line : block.output) absl::StrAppend(&text, line, "\n");
  }
  for (const Line& line : transcript.rest) absl::StrAppend(&text, line.text, "\n");
  return text;
}

absl::Status Execute(Transcript& transcript, Script& script) {
  for (Block& block : transcript.blocks) {
    block.output.clear();
    for (const Line& line : block.commands) {
      if (!IsCommand(line)) continue;
      absl::StatusOr<Command> command = Command::Parse(line.text);
      absl::Status status = command.ok() ? script.Run(*command, block.output) : command.status();
      if (status.ok()) status = command->Check();
      if (!status.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(line.number, ": ", status.message()));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace rapideye::transcripts
