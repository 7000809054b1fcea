// Compares the settings and versions with which workers were started.
#ifndef RAPIDEYE_CLASSIFIER_SETTINGS_H_
#define RAPIDEYE_CLASSIFIER_SETTINGS_H_

#include <string>
#include <vector>

#include "classifier/finding.h"

namespace rapideye::classifier {

struct SettingDifference {
  std::string name;      // "JAX_PLATFORMS", "version of jaxlib"
  std::string usual;     // "is 4x4", "is not set", "has a value that is not told"
  std::string unusual;   // of the first of the odd ones
  std::vector<int> odd;  // workers that differ from most
};

// Settings in which few workers differ from most (at least twice as many). Left out are values
// that are meant to differ (numbers of workers, own addresses, what nearly each worker has a value
// of its own for), and what keeps no job from running: logs, dumps, caches, paths. What is
// the same on a slice is compared within slices. By name.
std::vector<SettingDifference> DifferentSettings(const Topology& topology);

// "JAX_PLATFORMS is tpu on most workers, and cpu on slice 0 task 3 (host-3)"
std::string Describe(const Topology& topology, const SettingDifference& difference);

// Of what decides how a program is compiled: versions, flags, variables of JAX and XLA.
struct SideDifference {
  SettingKind kind = SettingKind::kUnspecified;
  std::string name;      // as SettingDifference::name
  std::string sentence;  // "X is 4 on slice 0 task 3 (host-3), and 2 on 7 workers"
  std::vector<int> odd;  // workers of the smallest group
};

// Those that differ between the two sides of a divergence, each side having one value. The
// sentences name all groups of workers that have the same, the smallest first. Versions
// come first, then flags.
std::vector<SideDifference> SettingsOfSides(const Topology& topology,
                                            const std::vector<ProgramSide>& sides);

// Differences stand in the evidence of verdicts that they may explain. Those between the sides of
// a divergence come first, with what to do.
void AddSettingEvidence(const Case& c, Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_SETTINGS_H_
