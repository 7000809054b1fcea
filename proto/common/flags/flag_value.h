// Parses and formats the values of flags. Internal to proto/common/flags.
#ifndef RAPIDEYE_PROTO_COMMON_FLAGS_FLAG_VALUE_H_
#define RAPIDEYE_PROTO_COMMON_FLAGS_FLAG_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/common/flags/byte_size.h"

namespace rapideye::program {

// Parses the whole text strictly; false leaves `value` as it was.
bool ParseValue(const std::string& text, std::string& value);
bool ParseValue(const std::string& text, bool& value);
bool ParseValue(const std::string& text, int32_t& value);
bool ParseValue(const std::string& text, int64_t& value);
bool ParseValue(const std::string& text, uint32_t& value);
bool ParseValue(const std::string& text, uint64_t& value);
bool ParseValue(const std::string& text, double& value);
bool ParseValue(const std::string& text, absl::Duration& value);
bool ParseValue(const std::string& text, ByteSize& value);

// The name of a type in errors: "a duration such as 5s".
struct FlagType {
  const char* label;  // in help: --poll-interval=DURATION
  const char* expected;
};
FlagType TypeOf(const std::string&);
FlagType TypeOf(bool);
FlagType TypeOf(int32_t);
FlagType TypeOf(int64_t);
FlagType TypeOf(uint32_t);
FlagType TypeOf(uint64_t);
FlagType TypeOf(double);
FlagType TypeOf(absl::Duration);
FlagType TypeOf(ByteSize);

// A default as --help shows it; "" for an empty one.
std::string Show(const std::string& value);
std::string Show(bool value);
std::string Show(int32_t value);
std::string Show(int64_t value);
std::string Show(uint32_t value);
std::string Show(uint64_t value);
std::string Show(double value);
std::string Show(absl::Duration value);
std::string Show(ByteSize value);
std::string Show(const std::vector<std::string>& value);

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_FLAGS_FLAG_VALUE_H_
