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

// A side of a comparison. Without texts, `side` says why.
struct ReadSide {
  HloSide side;
  std::optional<Texts> texts;
  bool cut = false;
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

// Moves the text into `files`, as it came.
ReadSide Read(GatheredText& gathered, std::vector<IncidentFile>& files) {
  ReadSide read;
  read.side = Describe(gathered);
  absl::StatusOr<std::string> text = TextOf(gathered);
  if (!text.ok()) {
    read.side.problem = std::string(text.status().message());
    return read;
  }
  read.texts = Unpacked(*std::move(text), *gathered.text);
  read.cut = gathered.text->cut;
  files.push_back({ModuleTextFile(gathered.worker), std::move(gathered.text->gzip)});
  return read;
}

classifier::HloDump DumpOf(const ReadSide& read) {
  classifier::HloDump dump;
  dump.build = classifier::HloBuildOf(read.side.dump.value_or(""));
  dump.flags = read.texts->flags;
  dump.before = read.texts->before;
  dump.after = {read.texts->after, read.cut};
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

HloComparison Compare(const ReadSide& first, const ReadSide& second) {
  HloComparison comparison;
  comparison.outcome = HloOutcome::kNotComparable;
  comparison.sides = {first.side, second.side};
  if (!first.texts.has_value() || !second.texts.has_value()) return comparison;
  std::array<classifier::HloDump, 2> dumps = {DumpOf(first), DumpOf(second)};
  // Programs of two modules were written differently, as their names say.
  if (classifier::HloModuleName(first.texts->after) !=
      classifier::HloModuleName(second.texts->after)) {
    dumps[0].before.reset();
  }
  const classifier::HloDumpDifference difference =
      classifier::CompareHloDumps(dumps[0], dumps[1], {"the first", "the second"});
  comparison.outcome = difference.outcome;
  for (const classifier::HloLayerDifference& layer : difference.layers) Add(layer, comparison);
  return comparison;
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
  if (sides.size() < 2) return compared;
  // Texts are large: no more than two are unpacked at a time.
  ReadSide side = Read(sides[0], compared.files);
  const ReadSide second = Read(sides[1], compared.files);
  compared.comparison = Compare(side, second);
  for (size_t i = 2; i < sides.size(); ++i) {
    side = {};
    side = Read(sides[i], compared.files);
    compared.more.push_back(Compare(side, second));
  }
  return compared;
}

}  // namespace rapideye::coordinator
