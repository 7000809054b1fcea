// Recognise turns a line of a log into an event.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_RECOGNISE_H_
#define RAPIDEYE_CLASSIFIER_LOGS_RECOGNISE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "classifier/logs/log_line.h"
#include "classifier/logs/signatures.h"
#include "proto/v1/evidence.h"

namespace rapideye::logs {

struct RecogniseOptions {
  LogSource source = LogSource::kJobLog;
  const SignatureTable* signatures = &SignatureTable::BuiltIn();  // outlives the call
  // For the kernel's log: PCI addresses of the TPUs of this host, with the chip's
  // ordinal. Errors of any other device are noise.
  std::vector<std::pair<std::string, int32_t>> tpu_addresses;
  // A log that is read by itself may be a kernel's: its words on hardware, of whatever device,
  // count as the word of the process that wrote the file.
  bool kernel_words = false;
  // Lines that fit no signature are matched with the families, too; lines of the kernel's own log
  // never are.
  bool families = true;
  // Lines that fit no family either are matched with the words of outcomes. For a reader of the
  // log: what these lines say is too vague for a verdict.
  bool outcomes = false;
};

// The event of a line; absent if no signature matches. Pure; the line may hold any bytes, and is
// looked at up to kMaxLogLineBytes, without its colours. Benign lines are events, too: the caller
// drops them. Fields that the line does not state explicitly stay absent; in particular `chip`,
// since neither the coordinates in a core's name nor a node's number tell the host's own number
// of the chip.
std::optional<LogLine> Recognise(absl::string_view line, const RecogniseOptions& options = {});

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_RECOGNISE_H_
