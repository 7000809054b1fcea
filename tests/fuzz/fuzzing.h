// Provides the helpers that all fuzz targets share.
#ifndef RAPIDEYE_TESTS_FUZZ_FUZZING_H_
#define RAPIDEYE_TESTS_FUZZ_FUZZING_H_

#include <google/protobuf/stubs/logging.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace rapideye {

// Ends the run as a finding: a property that must hold for every input does not.
inline void Require(bool holds, const char* property, const std::string& detail = "") {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s %s\n", property, detail.c_str());
  std::abort();
}

// protobuf would tell standard error about each string that is not UTF-8.
inline void QuietProtobuf() { google::protobuf::SetLogHandler(nullptr); }

}  // namespace rapideye

#endif  // RAPIDEYE_TESTS_FUZZ_FUZZING_H_
