#include "coordinator/store/text_comparison.h"

#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "classifier/hlo/difference.h"
#include "classifier/hlo/module.h"
#include "coordinator/store/incident_files.h"
#include "proto/common/gzip/gzip.h"
#include "proto/wire/limits.h"

namespace rapideye::coordinator {
namespace {

HloSide Describe(const GatheredText& gathered) {
  HloSide side;
  side.worker = gathered.worker;
  side.module = gathered.side.module;
  side.fingerprint = gathered.side.fingerprint;
  if (!gathered.text.has_value()) {
    side.problem = gathered.problem;
    return side;
  }
  side.dump = gathered.text->dump;
  side.match = gathered.text->match;
  return side;
}

// The text of a side, or the reason why there is none.
absl::StatusOr<std::string> TextOf(const GatheredText& gathered) {
  if (!gathered.text.has_value()) return absl::NotFoundError(gathered.problem);
  absl::StatusOr<std::string> text = Decompress(gathered.text->gzip);
  if (!text.ok()) return text.status();
  const std::string_view name = classifier::HloModuleName(*text);
  if (name.empty()) return absl::InvalidArgumentError("what it sent is no HLO module");
  if (gathered.side.module.has_value() && name != *gathered.side.module) {
    return absl::InvalidArgumentError(absl::StrCat(
        "what it sent is of module ", std::string(name.substr(0, wire::kMaxNameBytes / 2))));
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> Decompress(const std::string& gzip) {
  absl::StatusOr<std::string> text = gzip::Decompress(gzip, wire::kMaxModuleTextBytes);
  if (absl::IsResourceExhausted(text.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("what it sent has ", std::string(text.status().message())));
  }
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("what it sent cannot be decompressed: ",
                                                   std::string(text.status().message())));
  }
  return text;
}

ComparedTexts CompareTexts(std::vector<GatheredText> sides) {
  ComparedTexts compared;
  compared.comparison.outcome = HloOutcome::kNotComparable;
  std::array<std::string, 2> texts;
  bool both = sides.size() == texts.size();
  for (size_t i = 0; i < sides.size() && i < texts.size(); ++i) {
    HloSide side = Describe(sides[i]);
    absl::StatusOr<std::string> text = TextOf(sides[i]);
    if (text.ok()) {
      texts[i] = *std::move(text);
      compared.files.push_back({ModuleTextFile(side.worker), std::move(sides[i].text->gzip)});
    } else {
      side.problem = std::string(text.status().message());
      both = false;
    }
    compared.comparison.sides.push_back(std::move(side));
  }
  if (!both) return compared;
  const classifier::HloDifference difference =
      classifier::CompareHlo({texts[0], sides[0].text->cut}, {texts[1], sides[1].text->cut});
  compared.comparison.outcome = difference.outcome;
  if (difference.outcome != HloOutcome::kDifferent) return compared;
  compared.comparison.position = difference.position;
  for (size_t i = 0; i < texts.size(); ++i) {
    compared.comparison.sides[i].computation = difference.places[i].computation;
    compared.comparison.sides[i].instruction = difference.places[i].instruction;
  }
  return compared;
}

}  // namespace rapideye::coordinator
