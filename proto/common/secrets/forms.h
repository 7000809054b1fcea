// Form describes one way in which secrets stand in text: tokens of services, headers, URLs,
// assignments. Internal to proto/common/secrets.
#ifndef RAPIDEYE_PROTO_COMMON_SECRETS_FORMS_H_
#define RAPIDEYE_PROTO_COMMON_SECRETS_FORMS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace rapideye::secrets {

// Decides on what a group of the pattern has matched, which a regular expression cannot.
enum class Judge {
  kSecret,      // is one
  kRandom,      // if it has a digit, or both cases: "basic" stands before words, too
  kAssigned,    // unless it is nothing, a truth value, a path or a placeholder
  kToken,       // likewise, nor a number or a pointer: programs count tokens, too
  kLooseToken,  // likewise, and only if it looks random: "token: " stands in sentences, too
};

// Patterns are of RE2, over bytes. Whatever a group matches is blotted out, if the judge
// agrees; the rest of the match says what it was and stays.
struct Form {
  absl::string_view name;  // for people
  absl::string_view pattern;
  Judge judge = Judge::kSecret;
};

absl::Span<const Form> BuiltInForms();

// `value` is a secret, standing behind `before` (the text of the match in front of it).
bool IsSecret(Judge judge, absl::string_view before, absl::string_view value);

}  // namespace rapideye::secrets

#endif  // RAPIDEYE_PROTO_COMMON_SECRETS_FORMS_H_
