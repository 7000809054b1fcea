#include "classifier/settings.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/phrases.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

constexpr size_t kLeastReaders = 3;
constexpr size_t kMostSentences = 4;

// Every worker has its own.
constexpr std::array<std::string_view, 9> kOwn = {
    "TPU_WORKER_ID",     "CLOUD_TPU_TASK_ID",    "TPU_PROCESS_PORT",
    "JAX_PROCESS_ID",    "JAX_LOCAL_DEVICE_IDS", "TPU_RUNTIME_METRICS_PORTS",
    "TPU_VISIBLE_CHIPS", "TPU_VISIBLE_DEVICES",  "MEGASCALE_SLICE_ID"};
// Every slice has its own.
constexpr std::array<std::string_view, 4> kOfSlice = {"TPU_WORKER_HOSTNAMES", "TPU_NAME",
                                                      "TPU_PROCESS_ADDRESSES", "MEGASCALE_PORT"};
// Keeps nobody from running.
constexpr std::array<std::string_view, 11> kHarmless = {
    "LOG_", "DUMP", "_DIR", "PATH", "CACHE", "PROFIL", "HOSTNAME", "POD_", "NODE_", "dump", "log_"};

using Key = std::pair<SettingKind, std::string>;
// Of one worker, as it is compared; absent: it does not have the setting.
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

std::string NameOf(const Key& key) {
  if (key.first == SettingKind::kVersion) return absl::StrCat("the version of ", Quote(key.second));
  return Quote(key.second);
}

std::string Words(const Value& value) {
  if (!value.has_value()) return "not set";
  if (value->starts_with("#")) return "another value, which is not told";
  return Quote(*value).empty() ? "empty" : Quote(*value);
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
        // Without a salt there is nothing to compare.
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

 private:
  static void Compare(const Key& key, const std::map<int, std::string>& values,
                      const std::vector<int>& readers, std::vector<SettingDifference>& found) {
    if (readers.size() < kLeastReaders) return;
    std::map<Value, std::vector<int>> groups;
    for (const int reader : readers) {
      const auto value = values.find(reader);
      groups[value == values.end() ? Value() : Value(value->second)].push_back(reader);
    }
    const auto most = std::max_element(
        groups.begin(), groups.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    SettingDifference difference;
    for (auto group = groups.begin(); group != groups.end(); ++group) {
      if (group == most) continue;
      if (difference.odd.empty()) difference.unusual = Words(group->first);
      difference.odd.insert(difference.odd.end(), group->second.begin(), group->second.end());
    }
    if (difference.odd.empty() || most->second.size() < 2 * difference.odd.size()) return;
    std::sort(difference.odd.begin(), difference.odd.end());
    difference.name = NameOf(key);
    difference.usual = Words(most->first);
    found.push_back(std::move(difference));
  }

  const Topology& topology_;
  std::vector<int> readers_;
  std::map<Key, std::map<int, std::string>> values_;
};

}  // namespace

std::vector<SettingDifference> DifferentSettings(const Topology& topology) {
  return Comparison(topology).Find();
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
  size_t sentences = 0;
  for (const SettingDifference& difference : DifferentSettings(c.topology)) {
    if (++sentences > kMostSentences) return;
    verdict.evidence.push_back(
        Evidence(c, Strength::kWeak, difference.odd, Describe(c.topology, difference)));
  }
}

}  // namespace rapideye::classifier
