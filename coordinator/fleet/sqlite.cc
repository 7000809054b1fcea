#include "coordinator/fleet/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "coordinator/fleet/limits.h"
#include "proto/common/clock/clock.h"
#include "proto/common/file/network_file_system.h"

namespace rapideye::coordinator {
namespace {

constexpr absl::Duration kLockedPause = absl::Milliseconds(10);

absl::StatusCode CodeOf(int error) {
  switch (error & 0xff) {  // the rest refines it
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
      return absl::StatusCode::kAborted;
    case SQLITE_FULL:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kInternal;
  }
}

class Sqlite final : public Database {
 public:
  Sqlite(std::string path, sqlite3* connection) : path_(std::move(path)), connection_(connection) {}
  ~Sqlite() override { sqlite3_close_v2(connection_); }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  using Database::Run;
  absl::StatusOr<std::vector<Row>> Run(const std::string& sql,
                                       const std::vector<Value>& values) override {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(connection_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
      return Failed();
    }
    const absl::Cleanup finalizer = [statement] { sqlite3_finalize(statement); };
    for (size_t i = 0; i < values.size(); ++i) Bind(statement, i, values[i]);
    std::vector<Row> rows;
    int step = sqlite3_step(statement);
    for (; step == SQLITE_ROW; step = sqlite3_step(statement)) rows.push_back(Read(statement));
    if (step != SQLITE_DONE) return Failed();
    return rows;
  }

  // Takes the right to write at once: a transaction that reads first and writes
  // later could find that another connection has written meanwhile.
  absl::Status Begin() override { return Run("BEGIN IMMEDIATE").status(); }

  absl::StatusOr<absl::Time> WallClock() override {
    const auto rows = Run("SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS BIGINT)");
    if (!rows.ok()) return rows.status();
    return rows->front().Time(0);
  }

  std::string Name() const override { return absl::StrCat("sqlite:", path_); }

 private:
  absl::Status Failed() const {
    const absl::StatusCode code = CodeOf(sqlite3_extended_errcode(connection_));
    return absl::Status(code,
                        absl::StrCat("fleet history ", Name(), ": ", sqlite3_errmsg(connection_),
                                     code == absl::StatusCode::kDataLoss
                                         ? "; restore it, or move it away: a new one is made"
                                         : ""));
  }

  // A parameter that the statement does not name is left out.
  static void Bind(sqlite3_stmt* statement, size_t index, const Value& value) {
    const std::string name = absl::StrCat("$", index + 1);
    const int at = sqlite3_bind_parameter_index(statement, name.c_str());
    if (const auto* number = std::get_if<int64_t>(&value)) {
      sqlite3_bind_int64(statement, at, *number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      sqlite3_bind_double(statement, at, *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
  }

  static Row Read(sqlite3_stmt* statement) {
    std::vector<Value> values;
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER:
          values.emplace_back(int64_t{sqlite3_column_int64(statement, column)});
          break;
        case SQLITE_FLOAT:
          values.emplace_back(sqlite3_column_double(statement, column));
          break;
        case SQLITE_NULL:
          values.emplace_back();
          break;
        default:
          values.emplace_back(
              std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                          static_cast<size_t>(sqlite3_column_bytes(statement, column))));
      }
    }
    return Row(std::move(values));
  }

  std::string path_;
  sqlite3* connection_;
};

// SQLite would let everybody read a file that it makes; its journals get the mode of the file. A
// path that no file can be made at is SQLite's to report.
void MakePrivately(const std::string& path) {
  constexpr mode_t kMode = 0640;
  if (path[0] == ':') return;  // a history in memory
  const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kMode);
  if (file >= 0) close(file);
}

}  // namespace

absl::Status CheckSqlitePlace(const std::string& path, const std::string& type) {
  if (type.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path, " is on ", type,
      ", where SQLite loses what it was given: put it on a disk of this machine (--state-dir, "
      "--fleet-db=sqlite:PATH), or use --fleet-db=postgresql://..."));
}

absl::StatusOr<std::unique_ptr<Database>> OpenSqlite(const std::string& path,
                                                     IfMissing if_missing) {
  if (path.empty()) return absl::InvalidArgumentError("sqlite: needs the path of a file");
  if (absl::Status status = CheckSqlitePlace(path, file::NetworkFileSystemOf(path)); !status.ok()) {
    return status;
  }
  const bool make = if_missing == IfMissing::kMake;
  std::error_code unknown;
  if (!make && !std::filesystem::exists(path, unknown) && !unknown) {
    return absl::NotFoundError(absl::StrCat("fleet history sqlite:", path, ": no such file"));
  }
  if (make) MakePrivately(path);
  sqlite3* connection = nullptr;
  const int error = sqlite3_open_v2(
      path.c_str(), &connection, SQLITE_OPEN_READWRITE | (make ? SQLITE_OPEN_CREATE : 0), nullptr);
  if (error != SQLITE_OK) {
    const std::string why = connection != nullptr ? sqlite3_errmsg(connection) : "no memory";
    sqlite3_close_v2(connection);
    return absl::Status(CodeOf(error),
                        absl::StrCat("fleet history sqlite:", path, ": ", why,
                                     "; check that its directory is there and may be written"));
  }
  auto database = std::make_unique<Sqlite>(path, connection);
  sqlite3_busy_timeout(connection, static_cast<int>(absl::ToInt64Milliseconds(kHistoryPatience)));
  // The mode of the journal stays with the file; a file that is no history is left as it is.
  absl::Status status = database->Run("PRAGMA synchronous = FULL").status();
  // Another connection that opens a new file at the same moment locks it for an instant, and this
  // statement alone does not wait for that by itself.
  const absl::Duration deadline = MonotonicTime() + kHistoryPatience;
  while (make && status.ok()) {
    status = database->Run("PRAGMA journal_mode = WAL").status();
    if (!absl::IsAborted(status) || MonotonicTime() >= deadline) break;
    absl::SleepFor(kLockedPause);
    status = absl::OkStatus();
  }
  if (!status.ok()) return status;
  return database;
}

}  // namespace rapideye::coordinator
