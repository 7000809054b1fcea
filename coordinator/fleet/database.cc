#include "coordinator/fleet/database.h"

#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/fleet/postgresql.h"
#include "coordinator/fleet/sqlite.h"

namespace rapideye::coordinator {
namespace {

constexpr char kSqlite[] = "sqlite:";

}  // namespace

int64_t Row::Int(size_t column) const { return OptionalInt(column).value_or(0); }

double Row::Number(size_t column) const {
  const double* value = std::get_if<double>(&values_.at(column));
  return value != nullptr ? *value : static_cast<double>(Int(column));
}

std::string Row::Text(size_t column) const { return OptionalText(column).value_or(""); }

std::optional<int64_t> Row::OptionalInt(size_t column) const {
  const int64_t* value = std::get_if<int64_t>(&values_.at(column));
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::string> Row::OptionalText(size_t column) const {
  const std::string* value = std::get_if<std::string>(&values_.at(column));
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

Value ToValue(absl::Time time) { return absl::ToUnixMillis(time); }

Value ToValue(const std::optional<int64_t>& value) {
  return value.has_value() ? Value(*value) : Value();
}

Value ToValue(const std::optional<std::string>& value) {
  return value.has_value() ? Value(*value) : Value();
}

absl::Status Database::Commit() { return Run("COMMIT").status(); }

void Database::Rollback() { Run("ROLLBACK").IgnoreError(); }

absl::StatusOr<std::unique_ptr<Database>> OpenDatabase(const std::string& url,
                                                       IfMissing if_missing) {
  if (absl::StartsWith(url, kSqlite)) {
    return OpenSqlite(url.substr(sizeof(kSqlite) - 1), if_missing);
  }
  if (absl::StartsWith(url, "postgresql://") || absl::StartsWith(url, "postgres://")) {
    return OpenPostgresql(url);
  }
  return absl::InvalidArgumentError(
      "a fleet history is given as sqlite:PATH or postgresql://USER@HOST/DATABASE");
}

absl::Status CheckDatabaseUrl(const std::string& url) {
  if (absl::StartsWith(url, kSqlite) && url != kSqlite) return absl::OkStatus();
  return OpenDatabase(url).status();  // connects at the first use
}

}  // namespace rapideye::coordinator
