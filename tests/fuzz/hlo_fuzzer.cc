// Reads any bytes as two texts of a module, and as the names and beginnings of dumps: the
// results stay within their bounds, the same whichever side is the first; each instruction
// has a class.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/sources/hlo_dump/parse.h"
#include "classifier/hlo/assignment.h"
#include "classifier/hlo/difference.h"
#include "classifier/hlo/fingerprint.h"
#include "classifier/hlo/groups.h"
#include "classifier/hlo/kernel_body.h"
#include "classifier/hlo/module.h"
#include "classifier/hlo/source_line.h"
#include "classifier/hlo/waits.h"
#include "tests/fuzz/fuzzing.h"

namespace {

rapideye::classifier::HloDifference Compare(std::string_view left, std::string_view right) {
  return rapideye::classifier::CompareHlo({left, false}, {right, false});
}

// Every instruction has a class, and groups of devices within their bounds.
void Walk(std::string_view text) {
  using rapideye::Require;
  namespace classifier = rapideye::classifier;
  const auto module = classifier::ParseHloModule(text);
  if (!module.has_value()) return;
  classifier::HloWaitAnalysis analysis(*module);
  const classifier::HloSourceLines sources(*module);
  for (size_t c = 0; c < module->computations.size(); ++c) {
    const classifier::HloComputation& computation = module->computations[c];
    Require(!module->complete || computation.complete, "a whole module has whole computations");
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const int at = static_cast<int>(i);
      const rapideye::HloWaits waits = analysis.Of(static_cast<int>(c), at);
      Require(waits == analysis.Of(static_cast<int>(c), at), "it is always the same");
      size_t devices = 0;
      for (const auto& group : analysis.PartnersOf(static_cast<int>(c), at).groups) {
        devices += group.size();
      }
      Require(devices <= classifier::kMaxHloDevices + text.size(), "groups are bounded");
      sources.Of(computation.instructions[i].text);
      analysis.OfName(computation.instructions[i].name);
    }
  }
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
  if (const auto assignment = classifier::ParseHloAssignment(left)) {
    Require(assignment->size() <= size_t{classifier::kMaxHloDevices}, "an assignment is bounded");
  }
  Require(Compare(left, left).outcome != HloOutcome::kDifferent,
          "a text does not differ from itself");
  if (const auto fingerprint = classifier::FingerprintHlo(left)) {
    Require(fingerprint->digits.size() == 16, "a fingerprint has 64 bits");
    Require(classifier::FingerprintHlo(left)->digits == fingerprint->digits,
            "it is always the same");
  }

  Walk(left);
  Require(
      classifier::SameKernelElsewhere(left, right) == classifier::SameKernelElsewhere(right, left),
      "neither kernel is the first");
  classifier::ParseHloGroups(left, 8);

  const absl::string_view line(left.data(), left.size());
  if (const auto name = rapideye::agent::ParseDumpName(line)) {
    Require(name->id >= 0 && name->module.size() <= line.size(), "a name is part of the file's");
  }
  for (const std::string& fingerprint : rapideye::agent::FingerprintsIn(line)) {
    Require(fingerprint.size() >= 16, "a fingerprint is long");
  }
  return 0;
}
