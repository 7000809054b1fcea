#include <nlohmann/json.hpp>
#include <utility>

#include "digest/digest.h"
#include "digest/explain_json.h"
#include "digest/report_json.h"
#include "digest/sentence.h"
#include "digest/wording.h"

namespace rapideye::digest {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

template <typename T>
void PutIf(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

void PutIf(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

Json Numbers(WorkerId id) { return {{"slice", id.slice}, {"task", id.task}}; }

Json Named(const ReportWorker& worker) {
  Json json = Numbers(worker.id);
  json["host"] = worker.host;
  return json;
}

template <typename List, typename ToOne>
Json Array(const List& list, ToOne to_one) {
  Json array = Json::array();
  for (const auto& element : list) array.push_back(to_one(element));
  return array;
}

Json CulpritJson(const ReportCulprit& culprit) {
  Json json = Named(culprit.worker);
  PutIf(json, "node", culprit.node);
  PutIf(json, "chip", culprit.chip);
  if (culprit.core_type && *culprit.core_type != CoreType::kUnspecified) {
    json["coreType"] = CoreTypeName(*culprit.core_type);
  }
  PutIf(json, "coreIndex", culprit.core_index);
  PutIf(json, "nic", culprit.nic);
  if (culprit.host_activity) json["hostActivity"] = HostActivityName(*culprit.host_activity);
  json["why"] = culprit.why;
  return json;
}

Json LinkJson(const ReportLink& link) {
  Json json = {{"from", Named(link.from)}, {"to", Named(link.to)}};
  PutIf(json, "nic", link.nic);
  json["why"] = link.why;
  return json;
}

Json StackGroupJson(const StackGroup& group, const std::vector<ReportWorker>& workers) {
  Json json = {{"frames", group.frames}};
  json["workers"] = Array(group.workers, [&](size_t i) { return Numbers(workers[i].id); });
  PutIf(json, "sinceMs", group.since_ms);
  return json;
}

Json RuntimeVerdictJson(const ReportRuntimeVerdict& verdict) {
  return {
      {"cause", CauseName(verdict.cause)}, {"hosts", verdict.hosts}, {"agrees", verdict.agrees}};
}

Json HolderJson(const ReportHolder& holder) {
  Json json = Numbers(holder.worker);
  json["pid"] = holder.pid;
  PutIf(json, "user", holder.user);
  PutIf(json, "ageMs", holder.age_ms);
  PutIf(json, "command", holder.command);
  return json;
}

Json EvidenceJson(const EvidenceItem& item) {
  return {{"statement", item.statement},
          {"strength", StrengthName(item.strength)},
          {"workers", Array(item.workers, Numbers)}};
}

Json AlternativeJson(const ReportAlternative& alternative) {
  Json json = {{"cause", CauseName(alternative.cause)}};
  PutIf(json, "detail", std::string(DetailName(alternative.detail)));
  json["confidence"] = alternative.confidence;
  json["culprits"] = Array(alternative.culprits, CulpritJson);
  json["why"] = alternative.why;
  if (alternative.independent) json["independent"] = true;
  return json;
}

Json RemovalJson(const Removal& removal) {
  const auto target_json = [](const RemovalTarget& target) {
    Json json = {{"host", target.host}};
    PutIf(json, "node", target.node);
    PutIf(json, "nic", target.nic);
    PutIf(json, "chip", target.chip);
    return json;
  };
  return {{"eligible", removal.eligible},
          {"targets", Array(removal.targets, target_json)},
          {"reason", removal.reason}};
}

Json ActionJson(const RecommendedAction& action) {
  Json json = {{"description", action.description}};
  PutIf(json, "documentationUrl", action.documentation_url);
  return json;
}

Json PositionJson(const Position& position, const std::vector<ReportWorker>& workers) {
  Json json = Json::object();
  PutIf(json, "tag", position.tag);
  PutIf(json, "pc", position.pc);
  PutIf(json, "hlo", position.hlo);
  json["cores"] = position.cores.size();
  Json at = Json::array();
  for (size_t i = 0; i < position.cores.size(); ++i) {
    const size_t worker = position.cores[i].worker;
    if (i == 0 || position.cores[i - 1].worker != worker) at.push_back(Numbers(workers[worker].id));
  }
  json["workers"] = std::move(at);
  return json;
}

Json GroupJson(const ProgramGroup& group, const std::vector<ReportWorker>& workers) {
  Json json = Json::object();
  PutIf(json, "launchId", group.launch_id);
  PutIf(json, "module", group.module);
  PutIf(json, "fingerprint", group.fingerprint);
  json["cores"] = group.cores;
  json["positions"] =
      Array(group.positions, [&](const Position& p) { return PositionJson(p, workers); });
  return json;
}

const char* OutcomeName(HloOutcome outcome) {
  switch (outcome) {
    case HloOutcome::kDifferent:
      return "DIFFERENT";
    case HloOutcome::kEqual:
      return "EQUAL";
    case HloOutcome::kEqualButForNames:
      return "EQUAL_BUT_FOR_NAMES";
    case HloOutcome::kEqualAsFarAsRead:
      return "EQUAL_AS_FAR_AS_READ";
    case HloOutcome::kKernelOrItsSource:
      return "KERNEL_OR_ITS_SOURCE";
    case HloOutcome::kNotComparable:
    case HloOutcome::kUnspecified:
      break;
  }
  return "NOT_COMPARABLE";
}

const char* MatchName(HloMatch match) {
  switch (match) {
    case HloMatch::kFingerprint:
      return "FINGERPRINT";
    case HloMatch::kOnlyDump:
      return "ONLY_DUMP";
    case HloMatch::kLatestDump:
      return "LATEST_DUMP";
    case HloMatch::kUnspecified:
      break;
  }
  return "";
}

const char* InputName(InputKind kind) {
  switch (kind) {
    case InputKind::kFlag:
      return "FLAG";
    case InputKind::kProgram:
      return "PROGRAM";
    case InputKind::kUnspecified:
      break;
  }
  return "UNSPECIFIED";
}

Json ComparisonJson(const HloComparison& comparison) {
  Json json = {{"outcome", OutcomeName(comparison.outcome)}};
  PutIf(json, "position", comparison.position);
  json["sides"] = Array(comparison.sides, [](const HloSide& side) {
    Json one = Numbers(side.worker);
    PutIf(one, "module", side.module);
    one["fingerprint"] = side.fingerprint;
    PutIf(one, "dump", side.dump);
    PutIf(one, "match", std::string(MatchName(side.match)));
    PutIf(one, "problem", side.problem);
    PutIf(one, "computation", side.computation);
    PutIf(one, "instruction", side.instruction);
    return one;
  });
  if (comparison.inputs.empty()) return json;
  json["inputs"] = Array(comparison.inputs, [](const DifferingInput& input) {
    Json one = {{"kind", InputName(input.kind)}};
    PutIf(one, "name", input.name);
    PutIf(one, "more", input.more);
    one["values"] = input.values;
    return one;
  });
  return json;
}

void PutRun(Json& json, const Report& report) {
  if (report.first_error) {
    Json first = Json::object();
    PutIf(first, "at", report.first_error->at);
    first["type"] = FirstErrorName(report.first_error->type);
    PutIf(first, "uncertaintyMs", report.first_error->uncertainty_ms);
    json["firstError"] = std::move(first);
  }
  if (report.timings) {
    json["timings"] = {{"detectToCollectMs", report.timings->detect_to_collect_ms},
                       {"collectMs", report.timings->collect_ms},
                       {"classifyMs", report.timings->classify_ms},
                       {"renderMs", report.timings->render_ms}};
  }
  Json files = Json::object();
  PutIf(files, "capture", report.files.capture);
  PutIf(files, "text", report.files.text);
  PutIf(files, "html", report.files.html);
  if (!report.files.hlo.empty()) files["hlo"] = report.files.hlo;
  if (!files.empty()) json["files"] = std::move(files);
}

}  // namespace

Json ReportToJson(const Report& report) {
  Json json = {
      {"schemaVersion", kSchemaVersion}, {"incidentId", report.incident_id}, {"job", report.job}};
  if (report.revision > 1) json["revision"] = report.revision;
  PutIf(json, "jobIncarnation", report.job_incarnation);
  PutIf(json, "detectedAt", report.detected_at);
  PutIf(json, "trigger", report.trigger);
  PutIf(json, "noticedBy", report.noticed_by);
  json["cause"] = CauseName(report.cause);
  PutIf(json, "detail", std::string(DetailName(report.detail)));
  PutIf(json, "confidence", report.confidence);
  json["headline"] = report.headline;
  json["sentence"] = SentenceText(report);
  json["culprits"] = Array(report.culprits, CulpritJson);
  json["links"] = Array(report.links, LinkJson);
  if (!report.partition[0].empty()) {
    json["partition"] = Array(
        report.partition, [](const std::vector<ReportWorker>& side) { return Array(side, Named); });
  }
  json["evidence"] = Array(report.evidence, EvidenceJson);
  json["alternatives"] = Array(report.alternatives, AlternativeJson);
  json["removal"] = RemovalJson(report.removal);
  json["recommendedActions"] = Array(report.actions, ActionJson);
  json["tpuStates"] =
      Array(report.tpu_states, [&](const ProgramGroup& g) { return GroupJson(g, report.workers); });
  if (!report.stack_groups.empty()) {
    json["stackGroups"] = Array(report.stack_groups, [&](const StackGroup& g) {
      return StackGroupJson(g, report.workers);
    });
  }
  if (report.runtime_verdict) json["runtimeVerdict"] = RuntimeVerdictJson(*report.runtime_verdict);
  if (!report.holders.empty()) json["holders"] = Array(report.holders, HolderJson);
  if (report.hlo_comparison) json["hloComparison"] = ComparisonJson(*report.hlo_comparison);
  json["workers"] = {{"expected", report.workers.size()},
                     {"reported", report.reported},
                     {"missing", Array(report.missing, Named)}};
  if (!report.lacking.empty()) json["lacking"] = report.lacking;
  PutRun(json, report);
  if (Json explain = ExplainJson(report); !explain.is_null()) json["explain"] = std::move(explain);
  return json;
}

std::string Dump(const Json& json, bool pretty) {
  return json.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

std::string RenderJson(const Report& report, bool pretty) {
  return Dump(ReportToJson(report), pretty);
}

}  // namespace rapideye::digest
