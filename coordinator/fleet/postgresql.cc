#include "coordinator/fleet/postgresql.h"

#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "coordinator/fleet/limits.h"

namespace rapideye::coordinator {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The server gives a statement up by itself; a server that does not even do that hangs. Both
// times together fit into the 5 s within which a SIGTERM ends a program.
absl::Duration LongestAnswer(absl::Duration patience) { return patience + patience / 3; }

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ResultDeleter>;

// Types of columns by their numbers (catalog/pg_type.dat): fixed for all servers.
constexpr Oid kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701, kNumeric = 1700;

// Codes by SQLSTATE, whose first two characters are its class.
absl::StatusCode CodeOf(std::string_view state) {
  const std::string_view kind = state.substr(0, 2);
  if (state == "57014") return absl::StatusCode::kDeadlineExceeded;  // statement_timeout
  if (state == "55P03" || kind == "40") return absl::StatusCode::kAborted;
  if (kind == "08" || kind == "57") return absl::StatusCode::kUnavailable;
  if (kind == "53") return absl::StatusCode::kResourceExhausted;
  if (state == "42501" || kind == "28") return absl::StatusCode::kPermissionDenied;
  if (state == "25006") return absl::StatusCode::kUnavailable;  // a standby: until it is promoted
  if (kind == "22" || kind == "23") return absl::StatusCode::kInvalidArgument;
  return absl::StatusCode::kInternal;
}

Value Read(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column) != 0) return {};
  const std::string text(PQgetvalue(result, row, column),
                         static_cast<size_t>(PQgetlength(result, row, column)));
  const Oid type = PQftype(result, column);
  if (type == kInt8 || type == kInt2 || type == kInt4) {
    int64_t number = 0;
    return absl::SimpleAtoi(text, &number) ? Value(number) : Value();
  }
  if (type == kFloat4 || type == kFloat8 || type == kNumeric) {
    double number = 0;
    return absl::SimpleAtod(text, &number) ? Value(number) : Value();
  }
  return text;
}

// The values of one statement, as libpq takes them.
class Parameters {
 public:
  explicit Parameters(const std::vector<Value>& values) {
    texts_.reserve(values.size());
    for (const Value& value : values) {
      if (const auto* number = std::get_if<int64_t>(&value)) {
        texts_.push_back(absl::StrCat(*number));
      } else if (const auto* real = std::get_if<double>(&value)) {
        texts_.push_back(absl::StrFormat("%.17g", *real));
      } else {
        const auto* text = std::get_if<std::string>(&value);
        texts_.push_back(text != nullptr ? *text : "");
      }
      pointers_.push_back(std::holds_alternative<std::monostate>(value) ? nullptr
                                                                        : texts_.back().c_str());
    }
  }
  int size() const { return static_cast<int>(pointers_.size()); }
  const char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
};

// The part of a URL that the log may show: everything up to a password.
std::string WithoutPassword(const PQconninfoOption* options) {
  std::string host, port, database;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string_view key = option->keyword;
    if (key == "host" || (key == "hostaddr" && host.empty())) host = option->val;
    if (key == "port") port = absl::StrCat(":", option->val);
    if (key == "dbname") database = absl::StrCat("/", option->val);
  }
  return absl::StrCat("postgresql://", host, port, database);
}

class Postgresql final : public Database {
 public:
  Postgresql(std::string url, std::string name, absl::Duration patience)
      : url_(std::move(url)), name_(std::move(name)), patience_(patience) {}
  ~Postgresql() override { PQfinish(connection_); }
  Postgresql(const Postgresql&) = delete;
  Postgresql& operator=(const Postgresql&) = delete;
  using Database::Run;
  absl::StatusOr<std::vector<Row>> Run(const std::string& sql,
                                       const std::vector<Value>& values) override;

  absl::Status Begin() override;

  absl::StatusOr<absl::Time> WallClock() override;

  bool IsPostgresql() const override { return true; }
  std::string Name() const override { return name_; }

 private:
  absl::Status Connect();
  absl::StatusOr<std::vector<Row>> RunConnected(const std::string& sql,
                                                const std::vector<Value>& values);

  // Returns the server's last result; nullptr if there is none (libpq has the reason then).
  absl::StatusOr<Result> Ask(const std::string& sql, const Parameters& parameters);

  // False: the server is not ready before the deadline.
  bool AwaitServer(bool to_write, SteadyClock::time_point deadline) const;

  // The statement may have taken effect or not: this connection will not tell.
  absl::Status Hangs(const absl::Status& status);
  absl::Status Failed(const PGresult* result);

  // libpq ends its messages, and parts of them, with newlines.
  std::string Message() const;

  std::string url_;
  std::string name_;
  const absl::Duration patience_;
  PGconn* connection_ = nullptr;
  bool in_transaction_ = false;
  bool doomed_ = false;  // until its ROLLBACK
};

absl::StatusOr<std::vector<Row>> Postgresql::Run(const std::string& sql,
                                                 const std::vector<Value>& values) {
  // After a break in a transaction, its later statements must not run outside of it.
  if (doomed_) {
    if (sql == "ROLLBACK") doomed_ = false;
    return absl::AbortedError(
        absl::StrCat("fleet history ", name_, ": the connection broke in a transaction"));
  }
  if (absl::Status status = Connect(); !status.ok()) return status;
  return RunConnected(sql, values);
}

absl::Status Postgresql::Begin() {
  absl::Status status = Run("BEGIN").status();
  in_transaction_ = status.ok();
  return status;
}

absl::StatusOr<absl::Time> Postgresql::WallClock() {
  const auto rows = Run("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)");
  if (!rows.ok()) return rows.status();
  return rows->front().Time(0);
}

absl::Status Postgresql::Connect() {
  if (connection_ != nullptr && PQstatus(connection_) == CONNECTION_OK) return absl::OkStatus();
  PQfinish(connection_);
  // A vanished server must not hold its client for the kernel's quarter of an hour.
  const std::string seconds = absl::StrCat(absl::ToInt64Seconds(kHistoryPatience));
  const std::string milliseconds = absl::StrCat(absl::ToInt64Milliseconds(patience_));
  const char* const keys[] = {"connect_timeout", "tcp_user_timeout", "application_name",
                              "client_encoding", "dbname",           nullptr};
  const char* const values[] = {seconds.c_str(), milliseconds.c_str(), "rapideye",
                                "UTF8",          url_.c_str(),         nullptr};
  connection_ = PQconnectdbParams(keys, values, /*expand_dbname=*/1);
  if (PQstatus(connection_) != CONNECTION_OK) {
    return absl::UnavailableError(absl::StrCat("fleet history ", name_, ": ", Message()));
  }
  PQsetnonblocking(connection_, 1);
  // Notices (a table exists already, say) are not logged.
  PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);
  for (const char* limit : {"statement_timeout", "lock_timeout"}) {
    auto rows = RunConnected(absl::StrCat("SET ", limit, " = ", milliseconds), {});
    if (!rows.ok()) return rows.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Row>> Postgresql::RunConnected(const std::string& sql,
                                                          const std::vector<Value>& values) {
  const absl::StatusOr<Result> answer = Ask(sql, Parameters(values));
  if (sql == "COMMIT" || sql == "ROLLBACK") in_transaction_ = false;
  if (!answer.ok()) return Hangs(answer.status());
  PGresult* result = answer->get();
  const ExecStatusType outcome = PQresultStatus(result);
  if (outcome != PGRES_TUPLES_OK && outcome != PGRES_COMMAND_OK) return Failed(result);
  // The server answers COMMIT of a failed transaction with a ROLLBACK.
  if (sql == "COMMIT" && std::string_view(PQcmdStatus(result)) != "COMMIT") {
    return absl::AbortedError(
        absl::StrCat("fleet history ", name_, ": the transaction was rolled back"));
  }
  std::vector<Row> rows;
  for (int row = 0; row < PQntuples(result); ++row) {
    std::vector<Value> cells;
    for (int column = 0; column < PQnfields(result); ++column) {
      cells.push_back(Read(result, row, column));
    }
    rows.emplace_back(std::move(cells));
  }
  return rows;
}

absl::StatusOr<Result> Postgresql::Ask(const std::string& sql, const Parameters& parameters) {
  const auto deadline = SteadyClock::now() + absl::ToChronoNanoseconds(LongestAnswer(patience_));
  Result last;
  if (PQsendQueryParams(connection_, sql.c_str(), parameters.size(), nullptr, parameters.data(),
                        nullptr, nullptr, /*resultFormat=*/0) == 0) {
    return last;
  }
  for (;;) {
    for (;;) {
      const int unsent = PQflush(connection_);
      if (unsent < 0) break;
      if (unsent == 0 && PQisBusy(connection_) == 0) break;
      if (!AwaitServer(unsent > 0, deadline)) {
        return absl::UnavailableError(
            absl::StrCat("fleet history ", name_, ": the server is there, and does not answer"));
      }
      if (PQconsumeInput(connection_) == 0) break;
    }
    Result next(PQgetResult(connection_));
    if (next == nullptr) return last;
    last = std::move(next);
    if (PQstatus(connection_) != CONNECTION_OK) return last;
  }
}

bool Postgresql::AwaitServer(bool to_write, SteadyClock::time_point deadline) const {
  pollfd server = {PQsocket(connection_),
                   static_cast<int16_t>(to_write ? POLLIN | POLLOUT : POLLIN), 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left.count() <= 0) return false;
    const int n = poll(&server, 1, static_cast<int>(left.count()));
    if (n > 0 || (n < 0 && errno != EINTR)) return n > 0;
  }
}

absl::Status Postgresql::Hangs(const absl::Status& status) {
  PQfinish(std::exchange(connection_, nullptr));
  doomed_ = std::exchange(in_transaction_, false);
  return status;
}

absl::Status Postgresql::Failed(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const bool broken = PQstatus(connection_) != CONNECTION_OK;
  if (broken) doomed_ = std::exchange(in_transaction_, false);
  return absl::Status(broken             ? absl::StatusCode::kUnavailable
                      : state != nullptr ? CodeOf(state)
                                         : absl::StatusCode::kInternal,
                      absl::StrCat("fleet history ", name_, ": ", Message()));
}

std::string Postgresql::Message() const {
  std::string text = PQerrorMessage(connection_);
  absl::StripAsciiWhitespace(&text);
  return absl::StrReplaceAll(text, {{"\n\t", " "}, {"\n", "; "}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> OpenPostgresql(const std::string& url,
                                                         absl::Duration patience) {
  char* why = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &why);
  const absl::Cleanup freer = [&] {
    PQconninfoFree(options);
    PQfreemem(why);
  };
  if (options == nullptr) {
    // libpq's message may quote the URL, and with it a password.
    return absl::InvalidArgumentError(
        "the address of the fleet history cannot be read: postgresql://USER@HOST:PORT/DATABASE");
  }
  return std::make_unique<Postgresql>(url, WithoutPassword(options), patience);
}

}  // namespace rapideye::coordinator
