#include "tests/world/table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "classifier/classify.h"
#include "tests/world/kinds.h"
#include "tests/world/truth.h"
#include "tests/world/world.h"

namespace rapideye::world {
namespace {

constexpr size_t kMistakesPrinted = 25;

double Percent(int part, int whole) { return whole == 0 ? 0 : 100.0 * part / whole; }

void JudgeOne(const World& world, Figures& figures) {
  const Plan& plan = world.plan;
  const Verdict verdict = Classify(world.capture);
  const Judgement judgement = world::Judge(plan.truth, verdict);
  const Count one{.n = 1,
                  .cause = judgement.cause,
                  .detail = judgement.cause && judgement.detail,
                  .culprits = judgement.cause && judgement.culprits,
                  .activity = judgement.cause && judgement.activity,
                  .activities = plan.truth.activity.has_value(),
                  .wrong_accusations = judgement.accuses_wrongly,
                  .wrong_removals = judgement.removes_wrongly,
                  .others = judgement.others,
                  .others_named = judgement.others_named,
                  .wrong_additions = judgement.adds_wrongly};
  figures.by_kind[{plan.kind, plan.noise}] += one;
  const EvidenceAvailable& seen = plan.evidence;
  figures.by_evidence[seen.old_runtime                ? "old runtime"
                      : !seen.hlo                     ? "without hlo"
                      : !seen.sequence                ? "without sequence"
                      : !seen.page                    ? "without page"
                      : !seen.sockets && !seen.probes ? "without sockets and probes"
                      : !seen.stacks                  ? "without stacks"
                                                      : "all of these"] += one;
  const Shape& shape = plan.shape;
  figures.by_shape[shape.stages           ? "slices are stages"
                   : shape.workers() == 1 ? "one host"
                   : shape.slices == 1    ? "one slice"
                   : shape.hosts == 1     ? "slices of one host"
                                          : "slices of several hosts"] += one;
  figures.by_shape[plan.schedule.step_seconds < 4 ? "steps below 4 s" : "steps of 4 to 30 s"] +=
      one;
  const std::string said(CauseName(verdict.cause));
  const std::string right = judgement.cause ? said : plan.truth.accepted.front().cause;
  ++figures.confusion[{right, said}];
  if (verdict.confidence) {
    const int percent = static_cast<int>(*verdict.confidence * 100);
    figures.stated[percent].first += *verdict.confidence;
    figures.stated[percent].second += judgement.cause && judgement.culprits;
    ++figures.stated_n[percent];
  }
  if (!judgement.cause || !judgement.culprits || judgement.removes_wrongly) {
    const std::string what = absl::StrCat(said, " ", std::string(DetailName(verdict.detail)),
                                          judgement.cause ? ", other culprits" : "",
                                          judgement.removes_wrongly ? ", removes" : "");
    Mistake& mistake = figures.mistakes[{plan.kind, what}];
    if (mistake.n++ == 0) {
      mistake = {plan.kind, what, 1, plan.seed, plan.noise};
    }
  }
}

std::string Row(const std::string& name, int noise, const Count& count) {
  return absl::StrFormat(
      "%-30s %5s %6d %7.1f %7.1f %9.1f %8d %8d\n", name, noise < 0 ? "" : absl::StrCat(noise),
      count.n, Percent(count.cause, count.n), Percent(count.detail, count.n),
      Percent(count.culprits, count.n), count.wrong_accusations, count.wrong_removals);
}

}  // namespace

Count& Count::operator+=(const Count& other) {
  n += other.n;
  cause += other.cause;
  detail += other.detail;
  culprits += other.culprits;
  activity += other.activity;
  activities += other.activities;
  wrong_accusations += other.wrong_accusations;
  wrong_removals += other.wrong_removals;
  others += other.others;
  others_named += other.others_named;
  wrong_additions += other.wrong_additions;
  return *this;
}

void JudgeKind(const Kind& kind, uint64_t first, uint64_t last, int noise, Figures& figures) {
  for (uint64_t seed = first; seed < last; ++seed) {
    JudgeOne(MakeWorld(kind.name, seed, noise), figures);
  }
}

void JudgeSeeds(uint64_t first, uint64_t last, int noise, const std::string& filter,
                Figures& figures) {
  for (const Kind& kind : Kinds()) {
    if (kind.name.find(filter) != std::string::npos) {
      JudgeKind(kind, first, last, noise, figures);
    }
  }
}

Count Total(const Figures& figures, int noise) {
  Count total;
  for (const auto& [key, count] : figures.by_kind) {
    if (key.second == noise) {
      total += count;
    }
  }
  return total;
}

namespace {

// How often the stated confidence was right, and the expected calibration error.
std::string Calibration(const Figures& figures) {
  std::string text = "\nconfidence stated, and right (cause and culprits)\n";
  double error = 0;
  int stated = 0;
  for (const auto& [percent, sum] : figures.stated) {
    const int n = figures.stated_n.at(percent);
    absl::StrAppendFormat(&text, "%.3f %6.1f%% of %d\n", sum.first / n, Percent(sum.second, n), n);
    error += std::abs(sum.first - sum.second);
    stated += n;
  }
  absl::StrAppendFormat(&text, "expected calibration error %.4f\n",
                        stated > 0 ? error / stated : 0);
  return text;
}

// With several faults: how often the faults beside the cause are named, and in how many verdicts
// of all kinds a fault beside the cause is said of a worker or chip that no fault befell.
std::string Others(const Figures& figures) {
  std::string text = "\nfaults beside the cause (kind, noise, n, named%)\n";
  std::map<int, Count> all;
  for (const auto& [key, count] : figures.by_kind) {
    all[key.second] += count;
    if (count.others > 0) {
      absl::StrAppendFormat(&text, "%-30s %5d %6d %7.1f\n", key.first, key.second, count.others,
                            Percent(count.others_named, count.others));
    }
  }
  for (const auto& [noise, count] : all) {
    absl::StrAppendFormat(&text, "%-30s %5d %6d %7.1f, wrongly in %d of %d\n", "all", noise,
                          count.others, Percent(count.others_named, count.others),
                          count.wrong_additions, count.n);
  }
  return text;
}

}  // namespace

std::string Print(const Figures& figures) {
  std::string text = absl::StrFormat("%-30s %5s %6s %7s %7s %9s %8s %8s\n", "kind", "noise", "n",
                                     "cause%", "detail%", "culprits%", "accuses", "removes");
  for (const Kind& kind : Kinds()) {
    for (int noise = 0; noise < 3; ++noise) {
      const auto found = figures.by_kind.find({kind.name, noise});
      if (found != figures.by_kind.end()) {
        text += Row(kind.name, noise, found->second);
      }
    }
  }
  for (int noise = 0; noise < 3; ++noise) {
    if (const Count total = Total(figures, noise); total.n > 0) {
      text += Row("all", noise, total);
    }
  }
  text += "\nby what could be seen (the first that was lacking)\n";
  for (const auto& [evidence, count] : figures.by_evidence) {
    text += Row(evidence, -1, count);
  }
  text += "\nby shape and step\n";
  for (const auto& [shape, count] : figures.by_shape) {
    text += Row(shape, -1, count);
  }
  int activity = 0;
  int activities = 0;
  for (const auto& [key, count] : figures.by_kind) {
    activity += count.activity;
    activities += count.activities;
  }
  absl::StrAppendFormat(&text, "\nhostActivity right: %.1f%% of %d\n",
                        Percent(activity, activities), activities);
  text += Others(figures);
  text += "\nconfusion of causes (right, said, n)\n";
  for (const auto& [causes, n] : figures.confusion) {
    absl::StrAppendFormat(&text, "%-22s %-22s %6d\n", causes.first, causes.second, n);
  }
  text += Calibration(figures);
  std::vector<Mistake> mistakes;
  for (const auto& [key, mistake] : figures.mistakes) {
    mistakes.push_back(mistake);
  }
  std::stable_sort(mistakes.begin(), mistakes.end(),
                   [](const Mistake& a, const Mistake& b) { return a.n > b.n; });
  mistakes.resize(std::min(mistakes.size(), kMistakesPrinted));
  text += "\nmost frequent mistakes (n, kind, said, a seed, noise)\n";
  for (const Mistake& mistake : mistakes) {
    absl::StrAppendFormat(&text, "%5d %-28s %-50s %6d %d\n", mistake.n, mistake.kind, mistake.said,
                          mistake.seed, mistake.noise);
  }
  return text;
}

}  // namespace rapideye::world
