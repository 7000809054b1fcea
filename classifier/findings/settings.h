// Compares the settings and versions with which workers were started.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_SETTINGS_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_SETTINGS_H_

#include <string>
#include <vector>

#include "classifier/findings/finding.h"

namespace rapideye::classifier {

struct SettingDifference {
  std::string name;      // "JAX_PLATFORMS", "version of jaxlib"
  std::string usual;     // "is 4x4", "is not set", "has a value that is not told"
  std::string unusual;   // of the first of the odd ones
  std::vector<int> odd;  // workers that differ from most
};

// Settings in which few workers differ from most (at least twice as many). Leaves out values that
// are meant to differ (numbers of workers, own addresses, settings of which nearly each worker has
// a value of its own), and settings that keep no job from running: logs, dumps, caches, paths.
// Settings that are the same on a slice are compared within slices. By name.
std::vector<SettingDifference> DifferentSettings(const Topology& topology);

// "JAX_PLATFORMS is tpu on most workers, and cpu on slice 0 task 3 (host-3)"
std::string Describe(const Topology& topology, const SettingDifference& difference);

// A setting that decides how a program is compiled: a version, a flag, a variable of JAX or XLA.
struct SideDifference {
  SettingKind kind = SettingKind::kUnspecified;
  std::string name;      // as SettingDifference::name
  std::string sentence;  // "X is 4 on slice 0 task 3 (host-3), and 2 on 7 workers"
  std::vector<int> odd;  // workers of the smallest group
};

// Settings that differ between the two sides of a divergence, each side having one value. The
// sentences name all groups of workers with equal values, the smallest first. Versions
// come first, then flags.
std::vector<SideDifference> SettingsOfSides(const Topology& topology,
                                            const std::vector<ProgramSide>& sides);

// Adds differences to the evidence of verdicts that they may explain. Differences between the sides
// of a divergence come first, with the next step.
void AddSettingEvidence(const Case& c, Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_SETTINGS_H_
