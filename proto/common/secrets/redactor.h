// Redactor blots secrets out of text: keys, tokens, passwords, and what its owner's own patterns
// match. Pure.
#ifndef RAPIDEYE_PROTO_COMMON_SECRETS_REDACTOR_H_
#define RAPIDEYE_PROTO_COMMON_SECRETS_REDACTOR_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace rapideye::secrets {

// Stands where a secret stood.
inline constexpr absl::string_view kRedacted = "[redacted]";

// Own patterns: each costs a pass over every text.
inline constexpr size_t kMaxOwnPatterns = 64;
inline constexpr size_t kMaxOwnPatternBytes = 1024;

// Immutable: any thread may use it. Copies share the compiled forms.
class Redactor {
 public:
  // Knows the built-in forms (forms.cc) alone.
  Redactor();

  // Knows these patterns (RE2) as well: what their groups match is blotted out, or all that
  // they match if they have none. INVALID_ARGUMENT names the pattern that is broken, matches
  // the empty text, or is too long, and what is wrong with it.
  static absl::StatusOr<Redactor> Create(const std::vector<std::string>& own);

  // Replaces each secret in the text by kRedacted. True: there was one. A name in front
  // ("--password=") stays, so that people see what it was. Takes time linear in the text.
  bool Redact(std::string& text) const;

 private:
  struct Compiled;

  explicit Redactor(std::shared_ptr<const Compiled> compiled);

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace rapideye::secrets

#endif  // RAPIDEYE_PROTO_COMMON_SECRETS_REDACTOR_H_
