#include "coordinator/store/text_comparison.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "classifier/hlo/layers.h"
#include "classifier/hlo/module.h"
#include "coordinator/store/incident_files.h"
#include "proto/common/gzip/gzip.h"
#include "proto/common/text/utf8.h"
#include "proto/wire/limits.h"

namespace rapideye::coordinator {
namespace {

// Of a value or an instruction that goes into the capture.
constexpr size_t kMaxPartBytes = 400;

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

// A file beside the text, which may be missing: without it there is one comparison less.
std::optional<std::string> Beside(const std::string& gzip) {
  if (gzip.empty()) return std::nullopt;
  absl::StatusOr<std::string> text = Decompress(gzip);
  if (!text.ok()) return std::nullopt;
  return *std::move(text);
}

// The files of one side, from which a comparison takes views.
struct Texts {
  std::string after;
  std::optional<std::string> flags;
  std::optional<std::string> before;
};

Texts Unpacked(std::string after, const wire::ModuleText& text) {
  Texts texts{std::move(after), Beside(text.flags_gzip), Beside(text.before_gzip)};
  // The program as it was written is that of the text, or none.
  if (texts.before.has_value() &&
      classifier::HloModuleName(*texts.before) != classifier::HloModuleName(texts.after)) {
    texts.before.reset();
  }
  return texts;
}

classifier::HloDump DumpOf(const Texts& texts, const GatheredText& gathered) {
  classifier::HloDump dump;
  dump.build = classifier::HloBuildOf(gathered.text->dump);
  dump.flags = texts.flags;
  dump.before = texts.before;
  dump.after = {texts.after, gathered.text->cut};
  return dump;
}

// The part of an instruction that tells the sides apart, its operation if the other side has none,
// or the whole instruction.
std::string PartOf(const classifier::HloPlace& place, const classifier::HloPlace& other) {
  const auto with_operation = [&place](const std::string& part) {
    return place.operation.empty() ? part : absl::StrCat(place.operation, ": ", part);
  };
  if (other.instruction.empty() && !place.operation.empty()) return place.operation;
  const bool shapes = !place.shape.empty() && !other.shape.empty();
  if (shapes && place.shape != other.shape) return with_operation(place.shape);
  if (place.sharding != other.sharding && !place.sharding.empty() && !other.sharding.empty()) {
    return with_operation(absl::StrCat("sharding ", place.sharding));
  }
  return place.instruction;
}

std::string Bounded(std::string_view text) { return text::CutToUtf8(text, kMaxPartBytes); }

DifferingInput FlagOf(const classifier::HloLayerDifference& layer) {
  DifferingInput input{.kind = InputKind::kFlag, .name = Bounded(layer.flag)};
  if (layer.more_flags > 0) input.more = layer.more_flags;
  for (const std::string& value : layer.values) input.values.push_back(Bounded(value));
  return input;
}

DifferingInput ProgramOf(const classifier::HloLayerDifference& layer) {
  const auto& [left, right] = layer.difference.places;
  DifferingInput input{.kind = InputKind::kProgram};
  const classifier::HloSourceLine& source = left.source.known() ? left.source : right.source;
  if (source.known()) input.name = Bounded(classifier::ShortSourceLine(source));
  input.values = {Bounded(PartOf(left, right)), Bounded(PartOf(right, left))};
  return input;
}

void Add(const classifier::HloLayerDifference& layer, HloComparison& comparison) {
  using classifier::HloLayer;
  if (layer.layer == HloLayer::kFlags) comparison.inputs.push_back(FlagOf(layer));
  // The body of a kernel holds the lines of its source: it may well be the same program.
  if (layer.layer == HloLayer::kBefore && !layer.difference.kernel) {
    comparison.inputs.push_back(ProgramOf(layer));
  }
  if (layer.layer != HloLayer::kAfter || comparison.outcome != HloOutcome::kDifferent) return;
  comparison.position = layer.difference.position;
  for (size_t i = 0; i < comparison.sides.size(); ++i) {
    comparison.sides[i].computation = layer.difference.places[i].computation;
    comparison.sides[i].instruction = layer.difference.places[i].instruction;
  }
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
  std::array<Texts, 2> texts;
  bool both = sides.size() == texts.size();
  for (size_t i = 0; i < sides.size() && i < texts.size(); ++i) {
    HloSide side = Describe(sides[i]);
    absl::StatusOr<std::string> text = TextOf(sides[i]);
    if (text.ok()) {
      texts[i] = Unpacked(*std::move(text), *sides[i].text);
      compared.files.push_back({ModuleTextFile(side.worker), std::move(sides[i].text->gzip)});
    } else {
      side.problem = std::string(text.status().message());
      both = false;
    }
    compared.comparison.sides.push_back(std::move(side));
  }
  if (!both) return compared;
  std::array<classifier::HloDump, 2> dumps = {DumpOf(texts[0], sides[0]),
                                              DumpOf(texts[1], sides[1])};
  // Programs of two modules were written differently, as their names say.
  if (classifier::HloModuleName(texts[0].after) != classifier::HloModuleName(texts[1].after)) {
    dumps[0].before.reset();
  }
  const classifier::HloDumpDifference difference =
      classifier::CompareHloDumps(dumps[0], dumps[1], {"the first", "the second"});
  compared.comparison.outcome = difference.outcome;
  for (const classifier::HloLayerDifference& layer : difference.layers) {
    Add(layer, compared.comparison);
  }
  return compared;
}

}  // namespace rapideye::coordinator
