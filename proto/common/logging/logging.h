// Logs go to standard error, one line each, as text or JSON.
#ifndef RAPIDEYE_PROTO_COMMON_LOGGING_LOGGING_H_
#define RAPIDEYE_PROTO_COMMON_LOGGING_LOGGING_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace rapideye::program {

enum class LogFormat { kText, kJson };

// Sets up spdlog's default logger for this process and routes gRPC's and
// protobuf's own messages into it, a bounded number a second: hostile handshakes
// would flood the log otherwise. Call once, before threads start.
//
// Each message is one line, whatever it holds: control characters are escaped, a newline
// too. A text of several lines is logged line by line.
void SetUpLogging(const std::string& program, LogFormat format);

// Writes one error in the format kJson, with the members of the object `fields` behind the usual
// ones. Thread-safe.
void LogJsonError(const std::string& program, const std::string& message,
                  const nlohmann::ordered_json& fields);

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_LOGGING_LOGGING_H_
