#include "tests/testbed/model/control.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye::testbed {

absl::StatusOr<ControlLine> ParseControlLine(absl::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  if (words.empty()) return absl::InvalidArgumentError("control line: empty");
  ControlLine parsed;
  parsed.verb = words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    const std::pair<std::string, std::string> argument =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    if (words[i].find('=') == std::string::npos) {
      if (i != 1) {
        return absl::InvalidArgumentError(
            absl::StrCat("control line '", parsed.verb, "': '", words[i], "' is no key=value"));
      }
      parsed.subject = words[i];
    } else if (argument.first.empty() || !parsed.arguments.insert(argument).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "control line '", parsed.verb, "': the key of '", words[i], "' is empty or repeated"));
    }
  }
  return parsed;
}

std::string FormatControlLine(const ControlLine& line) {
  std::string text = line.verb;
  if (!line.subject.empty()) absl::StrAppend(&text, " ", line.subject);
  for (const auto& [key, value] : line.arguments) absl::StrAppend(&text, " ", key, "=", value);
  return text;
}

absl::StatusOr<std::string> StringArgument(const ControlLine& line, const std::string& key) {
  const auto found = line.arguments.find(key);
  if (found != line.arguments.end()) return found->second;
  return absl::InvalidArgumentError(
      absl::StrCat("control line '", line.verb, "': no ", key, "=... given"));
}

absl::StatusOr<int> IntegerArgument(const ControlLine& line, const std::string& key) {
  absl::StatusOr<std::string> text = StringArgument(line, key);
  if (!text.ok()) return text.status();
  int value = 0;
  if (absl::SimpleAtoi(*text, &value)) return value;
  return absl::InvalidArgumentError(
      absl::StrCat("control line '", line.verb, "': ", key, "='", *text, "' is no number"));
}

absl::StatusOr<int> IntegerArgument(const ControlLine& line, const std::string& key, int fallback) {
  if (!line.arguments.contains(key)) return fallback;
  return IntegerArgument(line, key);
}

std::string FormatWorker(WorkerId worker) { return absl::StrCat(worker.slice, ".", worker.task); }

absl::StatusOr<WorkerId> ParseWorker(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  WorkerId worker;
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &worker.slice) &&
      absl::SimpleAtoi(parts[1], &worker.task) && worker.slice >= 0 && worker.task >= 0) {
    return worker;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no worker such as 0.1"));
}

absl::StatusOr<MeshAddresses> ParsePeers(const ControlLine& line) {
  MeshAddresses addresses;
  for (const auto& [key, address] : line.arguments) {
    absl::StatusOr<WorkerId> worker = ParseWorker(key);
    if (!worker.ok()) return worker.status();
    if (!addresses.emplace(*worker, address).second) {
      return absl::InvalidArgumentError(absl::StrCat("peers: worker ", key, " is given twice"));
    }
  }
  return addresses;
}

ControlLine MakePeers(const MeshAddresses& addresses) {
  ControlLine line{.verb = "peers", .subject = "", .arguments = {}};
  for (const auto& [worker, address] : addresses) {
    line.arguments[FormatWorker(worker)] = address;
  }
  return line;
}

}  // namespace rapideye::testbed
