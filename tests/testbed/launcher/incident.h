// ReadIncident reads an incident from disk, as any other program would.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_INCIDENT_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_INCIDENT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/evidence.h"

namespace rapideye::testbed {

// A worker, or a chip of it, that the verdict or the truth names.
struct Named {
  WorkerId worker;
  std::string host;
  std::optional<int> chip;

  friend auto operator<=>(const Named&, const Named&) = default;
};

// Content of the digest's JSON.
struct Finding {
  std::string cause;
  std::string detail;  // empty: none
  std::optional<double> confidence;
  std::vector<Named> culprits;
  std::vector<std::string> nics;  // of the culprits, where one is named
  std::vector<Named> missing;
  bool removable = false;  // the hang alone is enough to remove the culprits
  // Where the programs of two sides first differ, as JSON; empty: nothing was compared.
  std::string hlo_comparison;
  std::optional<absl::Time> detected_at;
  absl::Duration detect_to_collect;
  absl::Duration collect;
  absl::Duration classify;
  absl::Duration render;
};

struct Incident {
  std::string directory;
  std::string json_path;
  std::string capture_path;
  std::string text;  // of the digest
  Finding finding;
};

// INVALID_ARGUMENT names the key that is missing or of the wrong type.
absl::StatusOr<Finding> ParseDigest(const std::string& json);

// NOT_FOUND names the file that is missing from the directory.
absl::StatusOr<Incident> ReadIncident(const std::string& directory);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_INCIDENT_H_
