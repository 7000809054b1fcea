#include "tests/scenarios/evaluate/report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rapideye::scenarios {
namespace {

constexpr std::array<Cause, 8> kCauses = {Cause::kNoHang,
                                          Cause::kBadTpuChip,
                                          Cause::kNetworkingIssue,
                                          Cause::kDifferentModule,
                                          Cause::kFingerprintMismatch,
                                          Cause::kDataInputStall,
                                          Cause::kUnrecoverableError,
                                          Cause::kUnknown};

double Percent(int part, int whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string RowName(const Scenario& scenario) {
  std::string name(KindName(scenario.kind));
  if (scenario.options.aborted) name += "/aborted";
  return name;
}

void Accuracy::Add(const Accuracy& other) {
  scenarios += other.scenarios;
  cause += other.cause;
  detail += other.detail;
  culprits += other.culprits;
  wrong_removals += other.wrong_removals;
  unneeded_unknown += other.unneeded_unknown;
  decidable += other.decidable;
}

void Report::Bin::Add(const Bin& other) {
  verdicts += other.verdicts;
  right += other.right;
  confidence += other.confidence;
}

void Report::Merge(const Report& other) {
  total_.Add(other.total_);
  healthy_ += other.healthy_;
  false_alarms_ += other.false_alarms_;
  unknown_.Add(other.unknown_);
  for (const auto& [name, row] : other.kinds_) kinds_[name].Add(row);
  for (const auto& [what, bin] : other.said_) said_[what].Add(bin);
  for (const auto& [truth, row] : other.confusion_) {
    for (const auto& [said, count] : row) confusion_[truth][said] += count;
  }
  for (size_t i = 0; i < easy_.size(); ++i) {
    easy_[i].Add(other.easy_[i]);
    hard_[i].Add(other.hard_[i]);
  }
}

void Report::AddTo(Accuracy& accuracy, const Truth& truth, const Grade& grade) {
  ++accuracy.scenarios;
  accuracy.cause += grade.cause ? 1 : 0;
  accuracy.detail += grade.detail ? 1 : 0;
  accuracy.culprits += grade.culprits ? 1 : 0;
  accuracy.wrong_removals += grade.wrong_removal ? 1 : 0;
  accuracy.decidable += truth.decidable ? 1 : 0;
  accuracy.unneeded_unknown += grade.unknown && !grade.cause ? 1 : 0;
}

void Report::Add(const Scenario& scenario, const Verdict& verdict, const Grade& grade) {
  AddTo(total_, scenario.truth, grade);
  AddTo(kinds_[RowName(scenario)], scenario.truth, grade);
  const Cause truth = scenario.truth.accepted.front().cause;
  ++confusion_[truth][grade.cause && !grade.unknown ? truth : verdict.cause];
  if (truth == Cause::kNoHang) {
    ++healthy_;
    false_alarms_ += grade.false_alarm ? 1 : 0;
  }
  // Saying that one does not know claims nothing that could be right or wrong: it is
  // counted apart.
  if (grade.unknown) {
    unknown_.Add({1, grade.cause ? 1 : 0, 0});
    return;
  }
  const int right = grade.cause && grade.culprits ? 1 : 0;
  const double confidence = verdict.confidence.value_or(0);
  said_[{verdict.cause, verdict.detail, confidence}].Add({1, right, confidence});
  if (!verdict.confidence) return;
  const int index = std::clamp(static_cast<int>(confidence * kBins), 0, kBins - 1);
  Bin& bin = (confidence < kHard ? hard_ : easy_)[static_cast<size_t>(index)];
  ++bin.verdicts;
  bin.confidence += confidence;
  bin.right += right;
}

double Report::CalibrationError(double below) const {
  double distance = 0;
  int verdicts = 0;
  for (int i = 0; i < kBins; ++i) {
    const auto index = static_cast<size_t>(i);
    Bin bin = hard_[index];
    if (below > kHard) {
      bin.verdicts += easy_[index].verdicts;
      bin.right += easy_[index].right;
      bin.confidence += easy_[index].confidence;
    }
    distance += std::abs(bin.confidence - bin.right);
    verdicts += bin.verdicts;
  }
  return verdicts == 0 ? 0.0 : distance / verdicts;
}

std::string Report::RenderConfusion() const {
  std::string text = absl::StrFormat("%-22s", "truth \\ said");
  for (const Cause said : kCauses) {
    absl::StrAppendFormat(&text, "%9s", std::string(CauseName(said)).substr(0, 8));
  }
  text += "\n";
  for (const auto& [truth, row] : confusion_) {
    absl::StrAppendFormat(&text, "%-22s", std::string(CauseName(truth)));
    for (const Cause said : kCauses) {
      const auto cell = row.find(said);
      absl::StrAppendFormat(&text, "%9d", cell == row.end() ? 0 : cell->second);
    }
    text += "\n";
  }
  return text;
}

std::string Report::RenderCalibration() const {
  std::string text = "confidence   verdicts  mean    right\n";
  for (int i = 0; i < kBins; ++i) {
    const auto index = static_cast<size_t>(i);
    for (const Bin* bin : {&hard_[index], &easy_[index]}) {
      if (bin->verdicts == 0) continue;
      const bool easy = bin == &easy_[index];
      const double low = easy ? kHard : 0.1 * i;
      const double high = i == kBins - 1 && !easy ? kHard : 0.1 * (i + 1);
      absl::StrAppendFormat(&text, "%.2f - %.2f  %8d  %.3f  %.3f\n", low, high, bin->verdicts,
                            bin->confidence / bin->verdicts,
                            static_cast<double>(bin->right) / bin->verdicts);
    }
  }
  if (unknown_.verdicts > 0) {
    absl::StrAppendFormat(&text, "UNKNOWN      %8d         %.3f\n", unknown_.verdicts,
                          static_cast<double>(unknown_.right) / unknown_.verdicts);
  }
  absl::StrAppendFormat(&text, "\n%-42s  verdicts  confidence  right\n", "said");
  for (const auto& [what, bin] : said_) {
    const auto& [cause, detail, confidence] = what;
    absl::StrAppendFormat(&text, "%-22s%-20s  %8d  %10.4f  %.3f\n", std::string(CauseName(cause)),
                          std::string(DetailName(detail)), bin.verdicts, confidence,
                          static_cast<double>(bin.right) / bin.verdicts);
  }
  absl::StrAppendFormat(&text, "\nexpected calibration error %.4f, of verdicts below %.2f %.4f\n",
                        CalibrationError(), kHard, CalibrationError(kHard));
  return text;
}

std::string Report::RenderKinds() const {
  std::string text = absl::StrFormat("%-28s%7s%8s%8s%10s%10s%9s\n", "kind", "count", "cause",
                                     "detail", "culprits", "decidable", "unknown");
  for (const auto& [name, row] : kinds_) {
    absl::StrAppendFormat(&text, "%-28s%7d%8.1f%8.1f%10.1f%10.1f%9d\n", name, row.scenarios,
                          Percent(row.cause, row.scenarios), Percent(row.detail, row.scenarios),
                          Percent(row.culprits, row.scenarios),
                          Percent(row.decidable, row.scenarios), row.unneeded_unknown);
  }
  return text;
}

std::string Report::Render() const {
  return absl::StrCat(
      RenderKinds(), "\n", RenderConfusion(), "\n", RenderCalibration(), "\n",
      absl::StrFormat("scenarios %d, decidable %d\n", total_.scenarios, total_.decidable),
      absl::StrFormat("cause %.2f %%, detail %.2f %%, exact culprits %.2f %%\n",
                      Percent(total_.cause, total_.scenarios),
                      Percent(total_.detail, total_.scenarios),
                      Percent(total_.culprits, total_.scenarios)),
      absl::StrFormat("unknown although decidable %d (%.2f %%)\n", total_.unneeded_unknown,
                      Percent(total_.unneeded_unknown, total_.decidable)),
      absl::StrFormat("wrong removals %d, false alarms %d of %d\n", total_.wrong_removals,
                      false_alarms_, healthy_));
}

}  // namespace rapideye::scenarios
