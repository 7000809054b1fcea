#include "digest/html_map.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "digest/text_states.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

using Json = nlohmann::ordered_json;

std::string Label(const ProgramGroup& group, const Position& position) {
  std::string label = PositionText(position);
  if (group.module) absl::StrAppend(&label, " in ", text::EscapeName(*group.module));
  if (group.launch_id) absl::StrAppend(&label, ", launch ", *group.launch_id);
  return label;
}

void EscapeTags(std::string& json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
}

}  // namespace

std::string MapData(const Report& report) {
  Json states = Json::array();
  std::vector<Json> cores(report.workers.size(), Json::array());
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      const size_t state = states.size();
      states.push_back({Label(group, position), position.cores.size(), position.idle ? 1 : 0});
      for (const CoreAt& core : position.cores) {
        Json& list = cores[core.worker];
        list.push_back(core.chip.value_or(-1));
        list.push_back(static_cast<int>(core.type));
        list.push_back(core.index);
        list.push_back(state);
        list.push_back(core.culprit ? 1 : 0);
      }
    }
  }
  std::set<WorkerId> accused;
  for (const ReportCulprit& culprit : report.culprits) accused.insert(culprit.worker.id);

  Json workers = Json::array();
  for (size_t i = 0; i < report.workers.size(); ++i) {
    const ReportWorker& worker = report.workers[i];
    workers.push_back({worker.id.slice, worker.id.task, text::EscapeName(worker.host),
                       worker.reported ? 1 : 0, accused.count(worker.id) > 0 ? 1 : 0,
                       std::move(cores[i])});
  }
  std::string json = Json{{"states", std::move(states)}, {"workers", std::move(workers)}}.dump(
      -1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  EscapeTags(json);
  return json;
}

}  // namespace rapideye::digest
