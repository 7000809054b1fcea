// Command is one command of a transcript: a verb, a subject, key=value arguments, and free text
// behind ": ".
//
//   alarm 0.1 kind=hang-line: Megascale detected a hang
#ifndef RAPIDEYE_TESTS_TRANSCRIPTS_COMMAND_H_
#define RAPIDEYE_TESTS_TRANSCRIPTS_COMMAND_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/evidence.h"
#include "tests/testbed/model/control.h"

namespace rapideye::transcripts {

// Arguments are read by name. One that is malformed is remembered, and Check
// tells the first; so does one that nobody has read.
class Command {
 public:
  static absl::StatusOr<Command> Parse(const std::string& line);

  const std::string& verb() const { return line_.verb; }
  const std::string& subject() const { return line_.subject; }
  const std::string& text() const { return text_; }
  WorkerId Worker();  // the subject

  // Absent: std::nullopt, or what is given instead.
  std::optional<std::string> String(const std::string& key);
  std::optional<int64_t> Integer(const std::string& key);  // decimal, or 0x...
  std::optional<bool> Flag(const std::string& key);        // yes or no
  std::optional<absl::Duration> Duration(const std::string& key);
  std::vector<std::string> List(const std::string& key);  // separated by commas

  template <typename T, typename Value>
  void Set(T& field, const std::optional<Value>& value) {
    if (value.has_value()) field = T(*value);
  }

  void Fail(const std::string& why);
  // INVALID_ARGUMENT names what was wrong.
  absl::Status Check() const;

 private:
  testbed::ControlLine line_;
  std::string text_;
  std::set<std::string> read_;
  absl::Status status_;
};

}  // namespace rapideye::transcripts

#endif  // RAPIDEYE_TESTS_TRANSCRIPTS_COMMAND_H_
