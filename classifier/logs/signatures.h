// SignatureTable defines which words make a log line an event: data, not code.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_SIGNATURES_H_
#define RAPIDEYE_CLASSIFIER_LOGS_SIGNATURES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/v1/evidence.h"

namespace re2 {
class RE2;
}

namespace rapideye::logs {

// A line fits if it holds at least one text of each group.
struct Signature {
  LogKind kind = LogKind::kUnspecified;
  bool any_case = false;  // its texts are in lower case, the line may be in any
  std::vector<std::vector<std::string>> all_of;
};

// One signature a line, as in builtin_signatures.cc and in an operator's file:
//
//   # comment
//   NIC_FAULT  "acme_rdma"|"acme_eth"  "link lost"
//   NIC_FAULT  any-case  "acme_rdma"  "link lost"
//
// A kind as captures name it, then groups separated by blanks: the line must hold
// one text of each. Case counts, unless `any-case` stands before the groups; in a text, \" is a
// quotation mark and \\ a backslash. One group at least must consist of texts of kMinSignatureBytes
// or more, so that no signature fits nearly every line.
//
// INVALID_ARGUMENT: "line 3: ..." says what is wrong, and what would be right.
absl::StatusOr<std::vector<Signature>> ParseSignatures(absl::string_view text);

// Signatures, the most specific first: the first that fits decides. Benign
// signatures come before all others; the other kinds are in the order of the
// built-in table, also for added signatures. Immutable, and cheap to copy.
class SignatureTable {
 public:
  static const SignatureTable& BuiltIn();
  // Families match lines that no built-in signature fits, by subject and fate. Ask them last.
  static const SignatureTable& Families();
  // Outcomes match lines that no family fits either, by words of failure alone: for readers of
  // logs, and for no verdict.
  static const SignatureTable& Outcomes();
  // The built-in signatures and `added`; among those of one kind, the added ones come first.
  static SignatureTable With(std::vector<Signature> added);

  // nullptr if no signature fits. KERNEL_HARDWARE only if `kernel`: in the log of a job
  // such words prove nothing. Nearly all lines cost one pass over their bytes.
  const Signature* Find(absl::string_view line, bool kernel) const;

  absl::Span<const Signature> signatures() const { return *signatures_; }

 private:
  explicit SignatureTable(std::vector<Signature> signatures);

  std::shared_ptr<const std::vector<Signature>> signatures_;
  // Matches every line that fits any signature, and few others.
  std::shared_ptr<const re2::RE2> any_;
  // Tells which signatures may fit such a line: some texts are words of ordinary lines, too.
  struct Candidates;
  std::shared_ptr<const Candidates> candidates_;
};

// True for kinds of which lines with different words are different events
// (by a NIC's name, for example): for other kinds one position is one event.
bool IsToldApartByText(LogKind kind);

// The built-in tables, as text.
extern const char kBuiltInSignatures[];
extern const char kBuiltInFamilies[];
extern const char kBuiltInOutcomes[];

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_SIGNATURES_H_
