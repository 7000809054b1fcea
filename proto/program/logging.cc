#include "proto/program/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace rapideye::program {

void SetUpLogging(const std::string& program, LogFormat) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(program, sink));
}

}  // namespace rapideye::program
