#include "tests/testbed/launcher/removals.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testbed/launcher/job.h"

namespace rapideye::testbed {
namespace {

using Json = nlohmann::json;

// Decision and hooks follow the incident on disk by some database transactions.
constexpr absl::Duration kFollowUpTimeout = absl::Seconds(15);
constexpr absl::Duration kRemovalLookInterval = absl::Milliseconds(50);

RemovalDecision DecisionFrom(const Json& json) {
  return {.host = json.at("host"),
          .machine = json.at("machine"),
          .action = json.at("action"),
          .rule = json.at("rule"),
          .reason = json.at("reason")};
}

HookRecord HookFrom(const Json& json) {
  return {.hook = json.at("hook"),
          .machine = json.value("machine", ""),
          .state = json.at("state"),
          .attempts = json.at("attempts"),
          .outcome = json.at("outcome"),
          .output = json.at("output")};
}

Removals RemovalsFrom(const Json& json) {
  Removals removals;
  removals.mode = json.at("mode");
  for (const Json& decision : json.at("decisions")) {
    removals.decisions.push_back(DecisionFrom(decision));
  }
  for (const Json& hook : json.at("hooks")) removals.hooks.push_back(HookFrom(hook));
  return removals;
}

}  // namespace

bool Removals::Settled() const {
  return !decisions.empty() && std::none_of(hooks.begin(), hooks.end(), [](const HookRecord& hook) {
    return hook.state == "due" || hook.state == "acting";
  });
}

absl::StatusOr<Removals> ParseRemovals(const std::string& json) {
  try {
    return RemovalsFrom(Json::parse(json));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("hooks.json: ", error.what()));
  }
}

absl::StatusOr<Removals> ReadRemovals(const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/hooks.json");
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": is not there"));
  std::ostringstream content;
  content << file.rdbuf();
  return ParseRemovals(std::move(content).str());
}

absl::StatusOr<Removals> AwaitRemovals(Job& job, const std::string& incident_directory) {
  const absl::Time deadline = absl::Now() + kFollowUpTimeout;
  while (true) {
    const absl::StatusOr<Removals> removals = ReadRemovals(incident_directory);
    // The coordinator replaces the file now and then; the file may be away for a moment.
    if (!removals.ok() && !absl::IsNotFound(removals.status())) return removals.status();
    const bool settled = removals.ok() && removals->Settled();
    if (settled || absl::Now() >= deadline) return removals.ok() ? *removals : Removals();
    if (absl::Status s = job.Watch(kRemovalLookInterval); !s.ok()) return s;
  }
}

}  // namespace rapideye::testbed
