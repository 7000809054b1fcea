// Logs go to standard error, one line each, as text or JSON.
#ifndef RAPIDEYE_PROTO_PROGRAM_LOGGING_H_
#define RAPIDEYE_PROTO_PROGRAM_LOGGING_H_

#include <string>

namespace rapideye::program {

enum class LogFormat { kText, kJson };

// Sets up spdlog's default logger for this process and routes gRPC's and
// protobuf's own messages into it. Call once, before threads start.
void SetUpLogging(const std::string& program, LogFormat format);

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_PROGRAM_LOGGING_H_
