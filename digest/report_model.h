// What all renderers print: verdict and capture, grouped, folded and bounded.
#ifndef RAPIDEYE_DIGEST_REPORT_MODEL_H_
#define RAPIDEYE_DIGEST_REPORT_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "classifier/evidence.h"
#include "classifier/verdict.h"

namespace rapideye::digest {

// How long each part took; left out of offline digests, so that the same
// capture gives the same bytes.
struct Timings {
  int64_t detect_to_collect_ms = 0;
  int64_t collect_ms = 0;
  int64_t classify_ms = 0;
  int64_t render_ms = 0;
};

// Where the incident's files lie; empty members are left out.
struct Files {
  std::string capture;
  std::string json;
  std::string text;
  std::string html;
};

// What a report needs beyond capture and verdict.
struct ReportContext {
  // Empty: derived from the capture's content (offline diagnosis).
  std::string incident_id;
  std::optional<Timings> timings;
  Files files;
};

// The model itself: what every renderer prints, already grouped and bounded.
struct Report {
  std::string incident_id;
  Verdict verdict;
};

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_REPORT_MODEL_H_
