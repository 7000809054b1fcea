#include "digest/explain_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "classifier/wording/wording.h"
#include "digest/wording.h"

namespace rapideye::digest {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
void Put(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

Json WorkersJson(const std::vector<WorkerId>& workers) {
  Json array = Json::array();
  for (const WorkerId& id : workers) array.push_back({{"slice", id.slice}, {"task", id.task}});
  return array;
}

Json ChainGroupJson(const ChainGroup& group) {
  Json json = {{"wait", WaitKindName(group.wait)}, {"head", group.head}, {"cores", group.cores}};
  json["workers"] = WorkersJson(group.workers);
  Put(json, "chip", group.chip);
  if (group.core_type && *group.core_type != CoreType::kUnspecified) {
    json["coreType"] = CoreTypeName(*group.core_type);
  }
  Put(json, "coreIndex", group.core_index);
  Put(json, "module", group.module);
  Put(json, "fingerprint", group.fingerprint);
  Put(json, "launchId", group.launch_id);
  Put(json, "tag", group.tag);
  Put(json, "pc", group.pc);
  Put(json, "hlo", group.instruction);
  if (!group.queue.empty()) json["queue"] = group.queue;
  Put(json, "hostPlace", group.host_place);
  Put(json, "sinceMs", group.since_ms);
  Put(json, "loopsMs", group.loops_ms);
  Put(json, "members", group.members);
  json["text"] = WaitText(group);
  return json;
}

Json ChainJson(const WaitChain& chain) {
  Json groups = Json::array();
  for (const ChainGroup& group : chain.groups) groups.push_back(ChainGroupJson(group));
  Json edges = Json::array();
  for (const ChainEdge& edge : chain.edges) {
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"kind", WaitEdgeKindName(edge.kind)},
                     {"text", EdgeText(edge.kind)}});
  }
  Json json = {{"groups", std::move(groups)}, {"edges", std::move(edges)}};
  if (chain.more_groups > 0) {
    json["more"] = {{"groups", chain.more_groups},
                    {"cores", chain.more_cores},
                    {"workers", chain.more_workers}};
  }
  return json;
}

Json ConsideredJson(const Considered& one) {
  Json json = {{"cause", CauseName(one.cause)}};
  if (one.detail != Detail::kNone) json["detail"] = DetailName(one.detail);
  json["why"] = WhyNotName(one.why);
  Put(json, "certainty", one.certainty);
  if (one.by) json["by"] = CauseName(*one.by);
  if (one.by && one.by_detail != Detail::kNone) json["byDetail"] = DetailName(one.by_detail);
  Put(json, "count", one.count);
  json["workers"] = WorkersJson(one.workers);
  json["text"] = WhyNotText(one);
  return json;
}

}  // namespace

Json ExplainJson(const Report& report) {
  if (report.chain.groups.empty() && report.considered.empty()) return nullptr;
  Json considered = Json::array();
  for (const Considered& one : report.considered) considered.push_back(ConsideredJson(one));
  return {{"chain", ChainJson(report.chain)}, {"considered", std::move(considered)}};
}

Json StepsJson(const Report& report) {
  Json steps = Json::array();
  for (const Reason& reason : report.reasons) {
    Json step = {
        {"kind", ReasonKindName(reason.kind)}, {"rule", reason.rule}, {"text", reason.text}};
    if (reason.cause) step["cause"] = CauseName(*reason.cause);
    Put(step, "certainty", reason.certainty);
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace rapideye::digest
