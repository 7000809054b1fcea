// Any bytes as a text, with a secret in it: the secret goes, whatever stands around it on other
// lines, and nothing but secrets is taken away.
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/common/secrets/redactor.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::Require;
  static const rapideye::secrets::Redactor redactor;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::string text = bytes;
  const bool found = redactor.Redact(text);
  Require(found == (text != bytes), "it says whether there was one");
  // Each secret has a byte at least, and what stands for it ten.
  Require(text.size() <= 10 * bytes.size(), "the result is bounded");
  std::string again = text;
  for (int i = 0; i < 3 && redactor.Redact(again); ++i) {
  }
  for (const char* secret : {"--password=S3cretS3cret", "https://u:S3cretS3cret@h/",
                             "Authorization: Bearer S3cretS3cretS3cret"}) {
    std::string with = absl::StrCat(bytes, "\n", secret, "\n", bytes);
    redactor.Redact(with);
    if (!absl::StrContains(bytes, "cret")) {
      Require(!absl::StrContains(with, "S3cretS3cret"), "the secret is gone", with);
    }
  }
  return 0;
}
