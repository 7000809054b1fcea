// Counts graded verdicts and prints the tables of the documentation.
#ifndef RAPIDEYE_TESTS_SCENARIOS_EVALUATE_REPORT_H_
#define RAPIDEYE_TESTS_SCENARIOS_EVALUATE_REPORT_H_

#include <array>
#include <map>
#include <string>
#include <tuple>

#include "classifier/verdict/verdict.h"
#include "tests/scenarios/scenario.h"
#include "tests/scenarios/truth.h"

namespace rapideye::scenarios {

// Shares of a number of scenarios, 0 .. 1.
struct Accuracy {
  int scenarios = 0;
  int cause = 0;
  int detail = 0;
  int culprits = 0;
  int wrong_removals = 0;
  int unneeded_unknown = 0;  // unknown, although the evidence sufficed
  int decidable = 0;

  void Add(const Accuracy& other);
};

class Report {
 public:
  void Add(const Scenario& scenario, const Verdict& verdict, const Grade& grade);
  // Counts what another one counted, too.
  void Merge(const Report& other);

  const Accuracy& total() const { return total_; }
  int false_alarms() const { return false_alarms_; }
  // Mean distance between confidence and share of right answers over ten bins of
  // confidence, weighted by their size. An answer is right if its cause and its
  // culprits are. Over verdicts with a confidence below `below` only.
  double CalibrationError(double below = 2) const;

  std::string Render() const;

 private:
  static constexpr int kBins = 10;
  struct Bin {
    int verdicts = 0;
    int right = 0;
    double confidence = 0;  // sum

    void Add(const Bin& other);
  };
  // Ten bins each for verdicts below kHard and from there on: the hard part is
  // also looked at alone.
  static constexpr double kHard = 0.95;

  static void AddTo(Accuracy& accuracy, const Truth& truth, const Grade& grade);
  std::string RenderConfusion() const;
  std::string RenderCalibration() const;
  std::string RenderKinds() const;

  Accuracy total_;
  int healthy_ = 0;
  int false_alarms_ = 0;
  Bin unknown_;  // right: the evidence did not decide
  std::map<std::string, Accuracy> kinds_;
  // By what was said and how surely: where the confidence comes from.
  std::map<std::tuple<Cause, Detail, double>, Bin> said_;
  std::map<Cause, std::map<Cause, int>> confusion_;  // truth -> said
  std::array<Bin, kBins> easy_{};
  std::array<Bin, kBins> hard_{};
};

// "chip-tail", "chip-tail/aborted".
std::string RowName(const Scenario& scenario);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_EVALUATE_REPORT_H_
