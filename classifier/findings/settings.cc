#include "classifier/findings/settings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/wording/phrases.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

constexpr size_t kLeastReaders = 3;
constexpr size_t kMostSettingSentences = 4;
// Limits of the sentences on the sides of a divergence.
constexpr size_t kMostOfSides = 2;
constexpr size_t kMostGroups = 3;
// Prefixes of variables that take part in compilation.
constexpr std::array<std::string_view, 3> kCompilers = {"JAX_", "XLA_", "LIBTPU_"};

// Settings of which every worker has its own value.
constexpr std::array<std::string_view, 9> kOwn = {
    "TPU_WORKER_ID",     "CLOUD_TPU_TASK_ID",    "TPU_PROCESS_PORT",
    "JAX_PROCESS_ID",    "JAX_LOCAL_DEVICE_IDS", "TPU_RUNTIME_METRICS_PORTS",
    "TPU_VISIBLE_CHIPS", "TPU_VISIBLE_DEVICES",  "MEGASCALE_SLICE_ID"};
// Settings of which every slice has its own value.
constexpr std::array<std::string_view, 4> kOfSlice = {"TPU_WORKER_HOSTNAMES", "TPU_NAME",
                                                      "TPU_PROCESS_ADDRESSES", "MEGASCALE_PORT"};
// Parts of names of settings that keep no job from running.
constexpr std::array<std::string_view, 11> kHarmless = {
    "LOG_", "DUMP", "_DIR", "PATH", "CACHE", "PROFIL", "HOSTNAME", "POD_", "NODE_", "dump", "log_"};

using SettingKey = std::pair<SettingKind, std::string>;
// The compared value of one worker; absent: the worker lacks the setting.
using Value = std::optional<std::string>;

template <typename Words>
bool IsAmong(std::string_view name, const Words& words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

bool IsCompared(const Setting& setting) {
  if (setting.kind == SettingKind::kVersion) return true;
  if (IsAmong(setting.name, kOwn)) return false;
  if (IsAmong(setting.name, kOfSlice)) return true;
  return std::none_of(kHarmless.begin(), kHarmless.end(),
                      [&](std::string_view word) { return text::Contains(setting.name, word); });
}

std::string NameOf(const SettingKey& key) {
  if (key.first == SettingKind::kVersion) return absl::StrCat("the version of ", Quote(key.second));
  return Quote(key.second);
}

std::string SettingText(const Value& value) {
  if (!value.has_value()) return "not set";
  if (value->starts_with("#")) return "another value, which is not told";
  return Quote(*value).empty() ? "empty" : Quote(*value);
}

bool DecidesWhatIsCompiled(SettingKind kind, std::string_view name) {
  if (kind == SettingKind::kVersion || kind == SettingKind::kFlag) return true;
  return std::any_of(kCompilers.begin(), kCompilers.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

using WorkersByValue = std::map<Value, std::vector<int>>;

WorkersByValue GroupsOf(const std::map<int, std::string>& values, const std::vector<int>& readers) {
  WorkersByValue groups;
  for (const int reader : readers) {
    const auto value = values.find(reader);
    groups[value == values.end() ? Value() : Value(value->second)].push_back(reader);
  }
  return groups;
}

SideDifference Between(const Topology& topology, const SettingKey& key,
                       const WorkersByValue& groups) {
  std::vector<const WorkersByValue::value_type*> smallest_first;
  for (const auto& group : groups) smallest_first.push_back(&group);
  std::stable_sort(smallest_first.begin(), smallest_first.end(), [](const auto* a, const auto* b) {
    return a->second.size() < b->second.size();
  });
  SideDifference found;
  found.kind = key.first;
  found.name = NameOf(key);
  found.odd = smallest_first.front()->second;
  found.sentence = found.name;
  const bool pair = smallest_first.size() == 2 &&
                    smallest_first[0]->second.size() == smallest_first[1]->second.size();
  for (size_t i = 0; i < std::min(smallest_first.size(), kMostGroups); ++i) {
    const auto& [value, workers] = *smallest_first[i];
    const bool counted = i + 1 == smallest_first.size() && !pair && workers.size() > 1;
    absl::StrAppend(&found.sentence, i == 0 ? " is " : ", and ", SettingText(value), " on ",
                    counted ? Count(static_cast<int64_t>(workers.size()), "worker")
                            : WhoAll(topology, workers));
  }
  if (smallest_first.size() > kMostGroups) {
    absl::StrAppend(&found.sentence, ", and other values on others");
  }
  return found;
}

class Comparison {
 public:
  explicit Comparison(const Topology& topology) : topology_(topology) {
    for (size_t i = 0; i < topology.workers().size(); ++i) {
      const WorkerInfo& worker = topology.workers()[i];
      if (worker.snapshot == nullptr || worker.snapshot->settings.empty()) continue;
      readers_.push_back(static_cast<int>(i));
      for (const Setting& setting : worker.snapshot->settings) {
        if (!IsCompared(setting)) continue;
        const bool own = setting.value.has_value() && !worker.host.empty() &&
                         !IsAmong(setting.name, kOfSlice) &&
                         text::Contains(*setting.value, worker.host);
        if (own) continue;
        // Without a salt there is no hash to compare.
        if (!setting.value.has_value() && !setting.hash.has_value()) continue;
        values_[{setting.kind, setting.name}][static_cast<int>(i)] =
            setting.value.has_value() ? *setting.value : absl::StrCat("#", *setting.hash);
      }
    }
  }

  std::vector<SettingDifference> Find() const {
    std::vector<SettingDifference> found;
    for (const auto& [key, values] : values_) {
      if (!IsAmong(key.second, kOfSlice)) {
        Compare(key, values, readers_, found);
        continue;
      }
      for (const SliceInfo& slice : topology_.slices()) {
        std::vector<int> readers;
        std::copy_if(readers_.begin(), readers_.end(), std::back_inserter(readers),
                     [&](int i) { return i >= slice.first && i < slice.last; });
        Compare(key, values, readers, found);
      }
    }
    return found;
  }

  // Sorted by kind and name.
  std::vector<SideDifference> FindBetween(const std::vector<int>& one,
                                          const std::vector<int>& other) const {
    std::vector<SideDifference> found;
    for (const auto& [key, values] : values_) {
      if (IsAmong(key.second, kOfSlice) || !DecidesWhatIsCompiled(key.first, key.second)) continue;
      const std::optional<Value> mine = Common(values, one);
      const std::optional<Value> theirs = Common(values, other);
      if (!mine.has_value() || !theirs.has_value() || *mine == *theirs) continue;
      // The value of a version that could not be read is unknown.
      const bool both = mine->has_value() && theirs->has_value();
      if (!both && key.first == SettingKind::kVersion) continue;
      // A variable that no two workers share may be meant to differ.
      const bool alone = Readers(one) < 2 && Readers(other) < 2;
      if (alone && key.first == SettingKind::kEnvironment) continue;
      WorkersByValue groups = GroupsOf(values, readers_);
      if (key.first == SettingKind::kVersion) groups.erase(Value());
      found.push_back(Between(topology_, key, groups));
    }
    return found;
  }

 private:
  std::vector<int> ReadersAmong(const std::vector<int>& workers) const {
    std::vector<int> readers;
    std::copy_if(workers.begin(), workers.end(), std::back_inserter(readers), [&](int worker) {
      return std::binary_search(readers_.begin(), readers_.end(), worker);
    });
    return readers;
  }
  size_t Readers(const std::vector<int>& workers) const { return ReadersAmong(workers).size(); }

  // The value that all of these workers share; absent: they have several values, or report none.
  std::optional<Value> Common(const std::map<int, std::string>& values,
                              const std::vector<int>& workers) const {
    const WorkersByValue groups = GroupsOf(values, ReadersAmong(workers));
    if (groups.size() != 1) return std::nullopt;
    return groups.begin()->first;
  }

  static void Compare(const SettingKey& key, const std::map<int, std::string>& values,
                      const std::vector<int>& readers, std::vector<SettingDifference>& found) {
    if (readers.size() < kLeastReaders) return;
    const WorkersByValue groups = GroupsOf(values, readers);
    const auto most = std::max_element(
        groups.begin(), groups.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    SettingDifference difference;
    for (auto group = groups.begin(); group != groups.end(); ++group) {
      if (group == most) continue;
      if (difference.odd.empty()) difference.unusual = SettingText(group->first);
      difference.odd.insert(difference.odd.end(), group->second.begin(), group->second.end());
    }
    if (difference.odd.empty() || most->second.size() < 2 * difference.odd.size()) return;
    std::sort(difference.odd.begin(), difference.odd.end());
    difference.name = NameOf(key);
    difference.usual = SettingText(most->first);
    found.push_back(std::move(difference));
  }

  const Topology& topology_;
  std::vector<int> readers_;
  std::map<SettingKey, std::map<int, std::string>> values_;
};

}  // namespace

std::vector<SettingDifference> DifferentSettings(const Topology& topology) {
  return Comparison(topology).Find();
}

std::vector<SideDifference> SettingsOfSides(const Topology& topology,
                                            const std::vector<ProgramSide>& sides) {
  if (sides.size() != 2) return {};
  std::array<std::vector<int>, 2> workers;
  for (size_t i = 0; i < workers.size(); ++i) {
    for (const WorkerId& id : sides[i].workers) {
      if (const int index = topology.Find(id); index >= 0) workers[i].push_back(index);
    }
  }
  std::vector<SideDifference> found = Comparison(topology).FindBetween(workers[0], workers[1]);
  const auto rank = [](SettingKind kind) {
    return kind == SettingKind::kVersion ? 0 : kind == SettingKind::kFlag ? 1 : 2;
  };
  std::stable_sort(found.begin(), found.end(),
                   [&rank](const SideDifference& a, const SideDifference& b) {
                     return rank(a.kind) < rank(b.kind);
                   });
  return found;
}

std::string Describe(const Topology& topology, const SettingDifference& difference) {
  return absl::StrCat(difference.name, " is ", difference.usual, " on most workers, and ",
                      difference.unusual, " on ", WhoAll(topology, difference.odd));
}

void AddSettingEvidence(const Case& c, Verdict& verdict) {
  const bool may_explain =
      verdict.cause == Cause::kUnknown || verdict.cause == Cause::kDifferentModule ||
      verdict.cause == Cause::kFingerprintMismatch || verdict.detail == Detail::kNotStarted ||
      verdict.detail == Detail::kProcessExit;
  if (!may_explain) return;
  std::set<std::string> told;
  std::vector<SideDifference> of_sides = SettingsOfSides(c.topology, verdict.sides);
  if (of_sides.size() > kMostOfSides) of_sides.resize(kMostOfSides);
  for (auto difference = of_sides.rbegin(); difference != of_sides.rend(); ++difference) {
    told.insert(difference->name);
    verdict.evidence.insert(
        verdict.evidence.begin(),
        Evidence(c, Strength::kStrong, difference->odd, std::move(difference->sentence)));
  }
  // A different module results from a different branch of the training script.
  if (!of_sides.empty() && verdict.cause == Cause::kFingerprintMismatch) {
    const SideDifference& first = of_sides.front();
    verdict.actions.insert(
        verdict.actions.begin(),
        {absl::StrCat(first.kind == SettingKind::kVersion ? "Install one version everywhere: "
                                                          : "Start all workers with the same: ",
                      first.name,
                      " differs between the workers whose programs differ, and takes part in what "
                      "is compiled."),
         std::nullopt});
  }
  size_t sentences = 0;
  for (const SettingDifference& difference : DifferentSettings(c.topology)) {
    if (told.contains(difference.name)) continue;
    if (++sentences > kMostSettingSentences) return;
    verdict.evidence.push_back(
        Evidence(c, Strength::kWeak, difference.odd, Describe(c.topology, difference)));
  }
}

}  // namespace rapideye::classifier
