// Reads any text as an operator's file of signatures: an error that names its line, or
// signatures by which a line that holds their texts is found.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "classifier/logs/limits.h"
#include "classifier/logs/signatures.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::Require;
  namespace logs = rapideye::logs;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto signatures = logs::ParseSignatures(text);
  if (!signatures.ok()) {
    Require(absl::StartsWith(signatures.status().message(), "line "), "an error names its line");
    return 0;
  }
  Require(signatures->size() <= logs::kMaxSignatures, "there are not too many");
  const logs::SignatureTable table = logs::SignatureTable::With(*signatures);
  for (const logs::Signature& signature : *signatures) {
    std::string line;
    for (const auto& group : signature.all_of) line += group.back();
    Require(table.Find(line, /*kernel=*/true) != nullptr, "what holds all texts is found", line);
  }
  return 0;
}
