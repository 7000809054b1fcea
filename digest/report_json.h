// ReportToJson makes the digest's JSON as a value, for callers that add keys of their own.
#ifndef RAPIDEYE_DIGEST_REPORT_JSON_H_
#define RAPIDEYE_DIGEST_REPORT_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// The object that RenderJson prints: schemaVersion 1, keys in the documented order,
// optional ones left out when absent (schema/digest.schema.json).
nlohmann::ordered_json ReportToJson(const Report& report);

// `json` as text, without a newline at its end; `pretty` indents by two. What
// is not UTF-8 is replaced, never thrown at.
std::string Dump(const nlohmann::ordered_json& json, bool pretty);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_REPORT_JSON_H_
