// Database runs SQL statements for the fleet history: one SQL text, two databases.
//
// Statements are written in what SQLite and PostgreSQL have in common: parameters
// $1, $2, …; types TEXT, BIGINT, DOUBLE PRECISION; ON CONFLICT and RETURNING. Rows
// that several processes may change are guarded by WithLock (schema.h), not by the dialect.
#ifndef RAPIDEYE_COORDINATOR_FLEET_DATABASE_H_
#define RAPIDEYE_COORDINATOR_FLEET_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::coordinator {

// NULL, an integer, a number, a text (valid UTF-8 without zero bytes).
using Value = std::variant<std::monostate, int64_t, double, std::string>;

// One row of a result. A value of another type than the requested one reads as zero, or as
// empty: the schema decides types, and a wrong statement of this program is a bug that its test
// finds.
class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}

  int64_t Int(size_t column) const;
  double Number(size_t column) const;
  std::string Text(size_t column) const;
  std::optional<int64_t> OptionalInt(size_t column) const;
  std::optional<std::string> OptionalText(size_t column) const;
  // Milliseconds of the Unix epoch.
  absl::Time Time(size_t column) const { return absl::FromUnixMillis(Int(column)); }

 private:
  std::vector<Value> values_;
};

Value ToValue(absl::Time time);  // milliseconds; saturates
Value ToValue(const std::optional<int64_t>& value);
Value ToValue(const std::optional<std::string>& value);

// One connection. Not thread-safe; every call may block for as long as a database
// may take to answer (limits.h), never longer.
//
// Errors: UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED: try again later (a broken connection
// is made anew by itself); RESOURCE_EXHAUSTED: no room; INVALID_ARGUMENT: the database
// will never take these values; any other error needs an operator. Messages name the
// database, without its password.
class Database {
 public:
  virtual ~Database() = default;

  virtual absl::StatusOr<std::vector<Row>> Run(const std::string& statement,
                                               const std::vector<Value>& values) = 0;
  absl::StatusOr<std::vector<Row>> Run(const std::string& statement) { return Run(statement, {}); }

  // Begins a transaction in which changes of other processes can be waited for.
  virtual absl::Status Begin() = 0;
  absl::Status Commit();
  void Rollback();  // best effort: a broken connection has rolled back by itself

  // The clock of the database, the same for all its clients.
  virtual absl::StatusOr<absl::Time> WallClock() = 0;

  // True if the database takes PostgreSQL's own statements (roles, triggers, row-level security).
  virtual bool IsPostgresql() const { return false; }

  // The name for people: "sqlite:/var/lib/rapideye/fleet.db", "postgresql://db/fleet".
  virtual std::string Name() const = 0;
};

// Runs `work` (returns absl::Status or absl::StatusOr) in a transaction: committed if
// it succeeds, otherwise as if it had never run.
template <typename Work>
auto InTransaction(Database& database, Work work) -> decltype(work()) {
  if (absl::Status status = database.Begin(); !status.ok()) return status;
  auto result = work();
  if (!result.ok()) {
    database.Rollback();
    return result;
  }
  if (absl::Status status = database.Commit(); !status.ok()) {
    database.Rollback();
    return status;
  }
  return result;
}

// kFail: opening a file that does not exist is NOT_FOUND (a read-only client never creates one).
enum class IfMissing { kMake, kFail };

// `url`: sqlite:PATH (the file is made if it is not there, or NOT_FOUND) or
// postgresql://… (postgres://…), as libpq takes them. INVALID_ARGUMENT for anything else.
absl::StatusOr<std::unique_ptr<Database>> OpenDatabase(const std::string& url,
                                                       IfMissing if_missing = IfMissing::kMake);

// INVALID_ARGUMENT if OpenDatabase could never take `url`. Opens nothing.
absl::Status CheckDatabaseUrl(const std::string& url);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_DATABASE_H_
