#include "coordinator/cli/hlo.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/hlo/instruction.h"
#include "classifier/hlo/layers.h"
#include "classifier/hlo/module.h"
#include "classifier/hlo/source_line.h"
#include "classifier/hlo/waits.h"
#include "coordinator/cli/hlo_dumps.h"
#include "coordinator/cli/output.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::cli {
namespace {

using Json = nlohmann::ordered_json;

// Output is written in pieces of about this size.
constexpr size_t kOutputBytes = 64 * 1024;
// Room for a sentence: two instructions, and the words around them.
constexpr size_t kMaxSentenceBytes = 4096;

absl::Status NoHlo(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(
      ShownPath(path), ": it holds no \"HloModule\" line, so it is no text of a module"));
}

// Writes the instructions of one module, in the order of its text.
class Listing {
 public:
  Listing(const classifier::HloModule& module, bool json)
      : module_(module), json_(json), analysis_(module) {}

  // `complete`: the text was read to its end. False if the output cannot be written.
  bool Write(bool complete) {
    if (json_) {
      // The pass over the instructions shows which called computations are missing from the text.
      out_ = absl::StrCat("{\"module\":", Quoted(module_.name), ",\"instructions\":[");
    } else {
      out_ = "computation\tinstruction\topcode\twaits\tgroups\n";
    }
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      for (size_t i = 0; i < module_.computations[c].instructions.size(); ++i) {
        if (json_) {
          AppendJson(static_cast<int>(c), static_cast<int>(i));
        } else {
          AppendRow(static_cast<int>(c), static_cast<int>(i));
        }
        if (out_.size() >= kOutputBytes && !Print(std::exchange(out_, {}))) return false;
      }
    }
    complete = complete && module_.complete && !analysis_.lacks_computations();
    if (json_) absl::StrAppend(&out_, "],\"complete\":", complete ? "true" : "false", "}\n");
    if (!json_ && !complete) Complain("the text is not whole: something of it is missing");
    return Print(out_);
  }

 private:
  static std::string Quoted(std::string_view text) {
    return digest::Dump(Json(std::string(text)), /*pretty=*/false);
  }

  // A name as a table shows it: no more than a word.
  static std::string Cell(std::string_view text) {
    return text.empty() ? "-" : ShownPath(std::string(text));
  }

  const classifier::HloInstruction& At(int c, int i) const {
    return module_.computations[static_cast<size_t>(c)].instructions[static_cast<size_t>(i)];
  }

  void AppendJson(int c, int i) {
    const classifier::HloInstruction& instruction = At(c, i);
    const HloWaits waits = analysis_.Of(c, i);
    const classifier::HloPartners partners = analysis_.PartnersOf(c, i);
    if (!first_) out_ += ',';
    first_ = false;
    absl::StrAppend(
        &out_, "{\"computation\":", Quoted(module_.computations[static_cast<size_t>(c)].name),
        ",\"instruction\":", Quoted(instruction.name),
        ",\"opcode\":", Quoted(classifier::ParseHloInstruction(instruction.text).opcode));
    if (waits != HloWaits::kUnspecified) {
      absl::StrAppend(&out_, ",\"waits\":", Quoted(classifier::HloWaitsName(waits)));
    }
    absl::StrAppend(&out_, ",\"groups\":[");
    for (size_t g = 0; g < partners.groups.size(); ++g) {
      absl::StrAppend(&out_, g == 0 ? "" : ",", "[", absl::StrJoin(partners.groups[g], ","), "]");
    }
    out_ += ']';
    if (partners.channel.has_value()) absl::StrAppend(&out_, ",\"channel\":", *partners.channel);
    if (!partners.rendezvous.empty()) {
      absl::StrAppend(&out_, ",\"rendezvous\":", Quoted(partners.rendezvous));
    }
    out_ += '}';
  }

  void AppendRow(int c, int i) {
    const classifier::HloInstruction& instruction = At(c, i);
    const classifier::HloPartners partners = analysis_.PartnersOf(c, i);
    std::string groups;
    for (const std::vector<int64_t>& group : partners.groups) {
      absl::StrAppend(&groups, groups.empty() ? "" : ",", "{", absl::StrJoin(group, ","), "}");
    }
    if (groups.empty() && !partners.rendezvous.empty()) groups = Cell(partners.rendezvous);
    absl::StrAppend(&out_, Cell(module_.computations[static_cast<size_t>(c)].name), "\t",
                    Cell(instruction.name), "\t",
                    Cell(classifier::ParseHloInstruction(instruction.text).opcode), "\t",
                    Cell(classifier::HloWaitsName(analysis_.Of(c, i))), "\t",
                    groups.empty() ? "-" : groups, "\n");
  }

  const classifier::HloModule& module_;
  const bool json_;
  classifier::HloWaitAnalysis analysis_;
  bool first_ = true;
  std::string out_;
};

const char* OutcomeName(HloOutcome outcome) {
  switch (outcome) {
    case HloOutcome::kEqual:
      return "equal";
    case HloOutcome::kEqualButForNames:
      return "equal-but-for-names";
    case HloOutcome::kEqualAsFarAsRead:
      return "equal-as-far-as-read";
    case HloOutcome::kKernelOrItsSource:
      return "kernel-or-its-source";
    case HloOutcome::kDifferent:
      return "different";
    case HloOutcome::kNotComparable:
    case HloOutcome::kUnspecified:
      break;
  }
  return "not-comparable";
}

// A higher rank is a worse outcome.
int Rank(HloOutcome outcome) {
  switch (outcome) {
    case HloOutcome::kDifferent:
      return 4;
    case HloOutcome::kKernelOrItsSource:
      return 3;
    case HloOutcome::kEqualAsFarAsRead:
      return 2;
    case HloOutcome::kEqualButForNames:
      return 1;
    default:
      return 0;
  }
}

Json PlaceJson(const classifier::HloPlace& place) {
  Json json = Json::object();
  if (!place.computation.empty()) json["computation"] = place.computation;
  json["instruction"] = place.instruction;
  if (!place.operation.empty()) json["operation"] = place.operation;
  if (!place.shape.empty()) json["shape"] = place.shape;
  if (place.source.known()) {
    json["file"] = place.source.file;
    json["line"] = place.source.line;
  }
  return json;
}

Json LayerJson(const classifier::HloLayerDifference& found) {
  Json json = {{"layer", std::string(classifier::HloLayerName(found.layer))}};
  const bool text =
      found.layer == classifier::HloLayer::kBefore || found.layer == classifier::HloLayer::kAfter;
  if (!text) {
    if (!found.flag.empty()) json["flag"] = found.flag;
    json["left"] = found.values[0];
    json["right"] = found.values[1];
    if (found.more_flags > 0) json["moreFlags"] = found.more_flags;
    return json;
  }
  const auto& [left, right] = found.difference.places;
  const classifier::HloSourceLine& source = left.source.known() ? left.source : right.source;
  if (source.known()) {
    json["file"] = source.file;
    json["line"] = source.line;
  }
  if (found.difference.kernel) json["kernel"] = left.name;
  json["position"] = found.difference.position;
  json["left"] = PlaceJson(left);
  json["right"] = PlaceJson(right);
  return json;
}

// Result of the comparison of one module.
struct Compared {
  std::string module;
  HloOutcome outcome = HloOutcome::kUnspecified;
  std::vector<Json> layers;  // that differ, the cheapest first
  std::string sentence;
  bool complete = true;

  bool differs() const { return !layers.empty() || Rank(outcome) > 1; }
  Json ToJson() const {
    Json json = {{"outcome", OutcomeName(outcome)},
                 {"where", layers.empty() ? Json(nullptr) : layers.front()},
                 {"sentence", sentence},
                 {"complete", complete}};
    if (layers.size() > 1) json["layers"] = layers;
    return json;
  }
};

// The texts of one side.
struct Side {
  ReadText after;
  std::optional<std::string> before;
  std::optional<std::string> flags;

  classifier::HloDump Dump(const std::string& build) const {
    classifier::HloDump dump;
    dump.build = build;
    dump.flags = flags;
    dump.before = before;
    dump.after = {after.text, after.cut};
    return dump;
  }
};

absl::StatusOr<Side> ReadSide(const DumpFiles& files) {
  Side side;
  absl::StatusOr<ReadText> after = ReadHloText(files.after);
  if (!after.ok()) return after.status();
  side.after = *std::move(after);
  if (classifier::HloModuleName(side.after.text).empty()) return NoHlo(files.after);
  // Files beside the dump help the comparison; without them it goes on.
  const auto beside = [](const std::string& path) -> std::optional<std::string> {
    if (path.empty()) return std::nullopt;
    absl::StatusOr<ReadText> read = ReadHloText(path);
    if (read.ok() && !read->cut) return std::move(read->text);
    Complain(read.ok() ? absl::StrCat(ShownPath(path), ": too large to be compared")
                       : std::string(read.status().message()));
    return std::nullopt;
  };
  side.before = beside(files.before);
  side.flags = beside(files.flags);
  return side;
}

bool IsComplete(const ReadText& read) {
  if (read.cut) return false;
  const std::optional<classifier::HloModule> module = classifier::ParseHloModule(read.text);
  return module.has_value() && module->complete;
}

absl::StatusOr<Compared> CompareOne(const DumpPair& pair, const std::array<std::string, 2>& sides) {
  Compared compared;
  if (!pair.left.has_value() || !pair.right.has_value()) {
    const int at = pair.left.has_value() ? 0 : 1;
    compared.module = (at == 0 ? pair.left : pair.right)->module;
    compared.outcome = HloOutcome::kDifferent;
    compared.sentence =
        absl::StrCat("only ", sides[static_cast<size_t>(at)], " has compiled ", compared.module);
    compared.layers.push_back({{"layer", "module"}, {"left", at == 0}, {"right", at == 1}});
    return compared;
  }
  const absl::StatusOr<Side> left = ReadSide(*pair.left);
  if (!left.ok()) return left.status();
  const absl::StatusOr<Side> right = ReadSide(*pair.right);
  if (!right.ok()) return right.status();
  const classifier::HloDumpDifference found = classifier::CompareHloDumps(
      left->Dump(pair.left->build), right->Dump(pair.right->build), sides);
  compared.module = std::string(classifier::HloModuleName(left->after.text));
  compared.outcome = found.outcome;
  compared.sentence = found.sentence;
  for (const auto& layer : found.layers) compared.layers.push_back(LayerJson(layer));
  // Such an outcome already states that the texts are the same to their end.
  compared.complete = found.outcome == HloOutcome::kEqualButForNames ||
                      found.outcome == HloOutcome::kKernelOrItsSource ||
                      (IsComplete(left->after) && IsComplete(right->after));
  return compared;
}

// The worst of all modules, with its sentence.
Compared Summary(const std::vector<Compared>& all) {
  const auto worse = [](const Compared& a, const Compared& b) {
    return std::pair(Rank(a.outcome), a.differs()) < std::pair(Rank(b.outcome), b.differs());
  };
  Compared summary = *std::max_element(all.begin(), all.end(), worse);
  for (const Compared& one : all) summary.complete = summary.complete && one.complete;
  if (all.size() == 1) return summary;
  if (summary.differs()) {
    summary.sentence = absl::StrCat(summary.module, ": ", summary.sentence);
    const auto others =
        std::count_if(all.begin(), all.end(), [](const Compared& one) { return one.differs(); }) -
        1;
    if (others > 0) absl::StrAppend(&summary.sentence, "; ", others, " more modules differ");
  } else {
    summary.sentence = absl::StrCat("all ", all.size(), " modules: ", summary.sentence);
  }
  return summary;
}

}  // namespace

HloCommand::HloCommand(CLI::App& app)
    : Command(app, "hlo",
              "Show what the instructions of a program wait for, or where two programs differ") {
  program::AddArgument(
      this->app(), "TEXT", texts_,
      "Text of an HLO module as XLA dumps it, plain or gzip (- is standard input); with a second "
      "one, prints where the two differ; or two directories of dumps to compare")
      .Required();
  AddFormat(format_, "output format; json: for scripts");
}

int HloCommand::Run() {
  if (texts_.size() == 1) return Show();
  if (texts_.size() == 2) return Compare();
  Complain("hlo takes one text, or two to compare");
  return program::kExitUsage;
}

int HloCommand::Show() const {
  const absl::StatusOr<ReadText> read = ReadHloText(texts_[0]);
  if (!read.ok()) return Fail(read.status());
  const std::optional<classifier::HloModule> module = classifier::ParseHloModule(read->text);
  if (!module.has_value()) return Fail(NoHlo(texts_[0]));
  return Listing(*module, AsJson()).Write(!read->cut) ? program::kExitOk : program::kExitFailure;
}

int HloCommand::Compare() const {
  absl::StatusOr<std::vector<DumpFiles>> left = FindDumps(texts_[0]);
  if (!left.ok()) return Fail(left.status());
  absl::StatusOr<std::vector<DumpFiles>> right = FindDumps(texts_[1]);
  if (!right.ok()) return Fail(right.status());
  const std::array<std::string, 2> sides = {ShownPath(texts_[0]), ShownPath(texts_[1])};
  std::vector<Compared> all;
  for (const DumpPair& pair : PairDumps(*std::move(left), *std::move(right))) {
    absl::StatusOr<Compared> compared = CompareOne(pair, sides);
    if (!compared.ok()) return Fail(compared.status());
    all.push_back(*std::move(compared));
  }
  const Compared summary = Summary(all);
  std::string out;
  if (AsJson()) {
    Json json = summary.ToJson();
    if (all.size() > 1) {
      json["modules"] = Json::array();
      for (const Compared& one : all) {
        Json entry = {{"module", one.module}};
        entry.update(one.ToJson());
        json["modules"].push_back(std::move(entry));
      }
    }
    out = digest::Dump(json, /*pretty=*/false) + "\n";
  } else if (all.size() == 1) {
    out = absl::StrCat(OutcomeName(summary.outcome), "\n",
                       text::EscapeText(summary.sentence, kMaxSentenceBytes), "\n");
  } else {
    for (const Compared& one : all) {
      absl::StrAppend(&out, one.module, "\t", OutcomeName(one.outcome), "\t",
                      text::EscapeText(one.sentence, kMaxSentenceBytes), "\n");
    }
  }
  return Print(out) ? program::kExitOk : program::kExitFailure;
}

}  // namespace rapideye::cli
