// ExplainJson makes the `explain` object of the digest's JSON.
#ifndef RAPIDEYE_DIGEST_EXPLAIN_JSON_H_
#define RAPIDEYE_DIGEST_EXPLAIN_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "digest/report_model.h"

namespace rapideye::digest {

// The chain and what was considered; null: the report holds neither.
nlohmann::ordered_json ExplainJson(const Report& report);

// The steps of the decision, in the order in which they were taken (rapideye diagnose --explain).
nlohmann::ordered_json StepsJson(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_EXPLAIN_JSON_H_
