// Any bytes as two texts of a module, and as the names and beginnings of dumps: what is
// found stays within its bounds, the same whichever side is the first.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/sources/hlo_dump/parse.h"
#include "classifier/hlo/difference.h"
#include "classifier/hlo/fingerprint.h"
#include "classifier/hlo/module.h"
#include "tests/fuzz/fuzzing.h"

namespace {

rapideye::classifier::HloDifference Compare(std::string_view left, std::string_view right) {
  return rapideye::classifier::CompareHlo({left, false}, {right, false});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::HloOutcome;
  using rapideye::Require;
  namespace classifier = rapideye::classifier;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A byte that is in no text divides the two.
  const size_t middle = bytes.find('\xff');
  const std::string_view left = bytes.substr(0, middle);
  const std::string_view right = middle == std::string_view::npos ? left : bytes.substr(middle + 1);
  const classifier::HloDifference one = Compare(left, right);
  const classifier::HloDifference other = Compare(right, left);
  Require(one.outcome == other.outcome && one.position == other.position,
          "the order of the sides makes no difference");
  if (one.outcome == HloOutcome::kDifferent) {
    for (const classifier::HloPlace& place : one.places) {
      Require(place.instruction.size() <= classifier::kMaxHloExcerptBytes, "it is bounded");
    }
  }
  Require(Compare(left, left).outcome != HloOutcome::kDifferent,
          "a text does not differ from itself");
  if (const auto fingerprint = classifier::FingerprintHlo(left)) {
    Require(fingerprint->digits.size() == 16, "a fingerprint has 64 bits");
    Require(classifier::FingerprintHlo(left)->digits == fingerprint->digits,
            "it is always the same");
  }

  const absl::string_view line(left.data(), left.size());
  if (const auto name = rapideye::agent::ParseDumpName(line)) {
    Require(name->id >= 0 && name->module.size() <= line.size(), "a name is part of the file's");
  }
  for (const std::string& fingerprint : rapideye::agent::FingerprintsIn(line)) {
    Require(fingerprint.size() >= 16, "a fingerprint is long");
  }
  return 0;
}
