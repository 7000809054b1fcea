#include "proto/common/logging/logging.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/common/logging/log_line.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::program {
namespace {

// Enough lines to see what goes wrong, too few to fill a disk.
constexpr int kLibraryLinesPerSecond = 5;

// Logger for the messages of libraries that we use. It is never destroyed: their threads
// may still log while the process exits.
class LibraryLog {
 public:
  explicit LibraryLog(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}

  void Write(spdlog::level::level_enum level, const char* library, const char* message) {
    if (!logger_->should_log(level)) return;
    const auto uptime = std::chrono::steady_clock::now().time_since_epoch();
    int64_t suppressed = 0;
    {
      const MutexLock lock(mutex_);
      const int64_t second = std::chrono::duration_cast<std::chrono::seconds>(uptime).count();
      if (!budget_.Admit(second, suppressed)) return;
    }
    if (suppressed > 0) {
      logger_->log(level, "{} lines of libraries were left out", suppressed);
    }
    logger_->log(level, "{}: {}", library, message);
  }

 private:
  const std::shared_ptr<spdlog::logger> logger_;
  Mutex mutex_;
  LineBudget budget_ ABSL_GUARDED_BY(mutex_){kLibraryLinesPerSecond};
};

LibraryLog* library_log = nullptr;  // set once, before threads start

// gRPC calls a refused handshake an error; to a daemon it is only a peer's mistake.
void LogGrpc(gpr_log_func_args* args) {
  spdlog::level::level_enum level = spdlog::level::debug;
  if (args->severity == GPR_LOG_SEVERITY_ERROR) level = spdlog::level::warn;
  library_log->Write(level, "grpc", args->message);
}

void LogProtobuf(google::protobuf::LogLevel level, const char*, int, const std::string& message) {
  library_log->Write(
      level >= google::protobuf::LOGLEVEL_ERROR ? spdlog::level::warn : spdlog::level::info,
      "protobuf", message.c_str());
}

}  // namespace

void SetUpLogging(const std::string& program, LogFormat format) {
  auto logger =
      std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(MakeFormatter(format));
  spdlog::set_default_logger(logger);
  delete std::exchange(library_log, new LibraryLog(std::move(logger)));
  gpr_set_log_function(LogGrpc);
  gpr_log_verbosity_init();  // from GRPC_VERBOSITY; until then gRPC says nothing
  google::protobuf::SetLogHandler(LogProtobuf);
}

void LogJsonError(const std::string& program, const std::string& message,
                  const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json record = {
      {"time", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::Now(), absl::UTCTimeZone())},
      {"severity", "ERROR"},
      {"level", "error"},
      {"program", program},
      {"message", message}};
  record.update(fields);
  const std::string line =
      record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  spdlog::default_logger()->flush();
  fwrite(line.data(), 1, line.size(), stderr);
  fflush(stderr);
}

}  // namespace rapideye::program
