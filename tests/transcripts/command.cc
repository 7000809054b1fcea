#include "tests/transcripts/command.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye::transcripts {

absl::StatusOr<Command> Command::Parse(const std::string& line) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(line, absl::MaxSplits(": ", 1));
  absl::StatusOr<testbed::ControlLine> control = testbed::ParseControlLine(parts.first);
  if (!control.ok()) return control.status();
  Command command;
  command.line_ = *std::move(control);
  command.text_ = parts.second;
  return command;
}

WorkerId Command::Worker() {
  const absl::StatusOr<WorkerId> worker = testbed::ParseWorker(subject());
  if (worker.ok()) return *worker;
  Fail(std::string(worker.status().message()));
  return {};
}

std::optional<std::string> Command::String(const std::string& key) {
  read_.insert(key);
  const auto found = line_.arguments.find(key);
  if (found == line_.arguments.end()) return std::nullopt;
  return found->second;
}

std::optional<int64_t> Command::Integer(const std::string& key) {
  const std::optional<std::string> text = String(key);
  if (!text.has_value()) return std::nullopt;
  int64_t value = 0;
  if (absl::SimpleAtoi(*text, &value) || absl::SimpleHexAtoi(*text, &value)) return value;
  Fail(absl::StrCat(key, "=", *text, " is no number"));
  return std::nullopt;
}

std::optional<bool> Command::Flag(const std::string& key) {
  const std::optional<std::string> text = String(key);
  if (!text.has_value()) return std::nullopt;
  if (*text != "yes" && *text != "no")
    Fail(absl::StrCat(key, "=", *text, " is neither yes nor no"));
  return *text == "yes";
}

std::optional<absl::Duration> Command::Duration(const std::string& key) {
  const std::optional<std::string> text = String(key);
  if (!text.has_value()) return std::nullopt;
  absl::Duration value;
  if (absl::ParseDuration(*text, &value)) return value;
  Fail(absl::StrCat(key, "=", *text, " is no duration such as 1.5s"));
  return std::nullopt;
}

std::vector<std::string> Command::List(const std::string& key) {
  return absl::StrSplit(String(key).value_or(""), ',', absl::SkipEmpty());
}

void Command::Fail(const std::string& why) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(verb(), ": ", why));
}

absl::Status Command::Check() const {
  if (!status_.ok()) return status_;
  for (const auto& [key, value] : line_.arguments) {
    if (!read_.contains(key)) {
      return absl::InvalidArgumentError(absl::StrCat(verb(), ": takes no ", key, "=..."));
    }
  }
  return absl::OkStatus();
}

}  // namespace rapideye::transcripts
