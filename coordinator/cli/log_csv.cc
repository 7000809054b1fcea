#include "coordinator/cli/log_csv.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace rapideye::cli {
namespace {

// As of one entry of an export in JSON.
constexpr size_t kMaxRowBytes = 4 * 1024 * 1024;

// The key under which LogExport looks for what a column holds, and the names of such columns, lower
// case. Cloud Logging joins the names of nested fields by dots.
struct Kind {
  const char* key;
  std::array<absl::string_view, 8> names;
};
constexpr int kText = 0;
constexpr int kTime = 1;
constexpr std::array<Kind, 6> kKinds = {{
    {"message",
     {"textpayload", "jsonpayload.message", "message", "@message", "_raw", "msg", "log"}},
    {"timestamp", {"timestamp", "@timestamp", "date", "_time", "time", "receivetimestamp"}},
    {"pod_name",
     {"resource.labels.pod_name", "kubernetes.pod_name", "kubernetes.pod.name", "pod_name", "pod",
      "resource.labels.task_name"}},
    {"host", {"host", "hostname", "_hostname", "@logstream", "logstream", "logstreamname"}},
    {"insertId", {"insertid"}},
    {"worker_id", {"resource.labels.worker_id"}},
}};

}  // namespace

bool BeginsLikeCsvExport(absl::string_view text) {
  CsvRows rows;
  const auto ignore = [](absl::string_view) { return absl::OkStatus(); };
  const size_t end = text.find('\n');
  if (end == absl::string_view::npos || !rows.Add(text.substr(0, end + 1), ignore).ok()) {
    return false;
  }
  if (!rows.columns_.has_value()) return false;
  const auto has = [&rows](int kind) {
    return std::any_of(rows.columns_->begin(), rows.columns_->end(),
                       [kind](const auto& column) { return column.kind == kind; });
  };
  return has(kText) && has(kTime);
}

void CsvRows::EndField() {
  // More fields than columns mean nothing.
  if (!columns_.has_value() || fields_.size() < columns_->size()) fields_.push_back(field_);
  field_.clear();
  quoted_ = after_quote_ = false;
}

absl::Status CsvRows::Add(absl::string_view bytes, Sink sink) {
  for (const char c : bytes) {
    if (++row_bytes_ > kMaxRowBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", rows_ + 1, ": longer than ", kMaxRowBytes, " bytes"));
    }
    if (quoted_ && !after_quote_) {
      if (c == '"') {
        after_quote_ = true;
      } else {
        field_.push_back(c);
      }
    } else if (c == '"' && after_quote_) {
      field_.push_back(c);
      after_quote_ = false;
    } else if (c == '"' && field_.empty()) {
      quoted_ = true;
    } else if (c == ',') {
      EndField();
    } else if (c == '\n') {
      if (absl::Status status = EndRow(sink); !status.ok()) return status;
    } else if (c != '\r') {
      field_.push_back(c);
    }
  }
  return absl::OkStatus();
}

absl::Status CsvRows::Finish(Sink sink) {
  if (quoted_ && !after_quote_) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is cut short within row ", rows_ + 1, "; export it anew"));
  }
  if (!field_.empty() || !fields_.empty()) {
    if (absl::Status status = EndRow(sink); !status.ok()) return status;
  }
  if (rows_ < 2) return absl::InvalidArgumentError("it holds no entries");
  return absl::OkStatus();
}

absl::Status CsvRows::EndRow(Sink sink) {
  EndField();
  ++rows_;
  row_bytes_ = 0;
  if (!columns_.has_value()) {
    TakeHeader();
    return absl::OkStatus();
  }
  const std::vector<std::string> fields = std::exchange(fields_, {});
  nlohmann::json entry = nlohmann::json::object();
  // The rank of the column that holds each kind.
  std::array<int, kKinds.size()> ranks;
  ranks.fill(std::numeric_limits<int>::max());
  for (size_t i = 0; i < std::min(fields.size(), columns_->size()); ++i) {
    const Column& column = (*columns_)[i];
    if (column.kind < 0 || fields[i].empty()) continue;
    const auto kind = static_cast<size_t>(column.kind);
    if (column.rank >= ranks[kind]) continue;
    ranks[kind] = column.rank;
    entry[kKinds[kind].key] = fields[i];
  }
  if (const auto worker = entry.find("worker_id"); worker != entry.end()) {
    entry["labels"]["worker_id"] = *worker;
  }
  return sink(entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void CsvRows::TakeHeader() {
  std::vector<Column>& columns = columns_.emplace();
  for (absl::string_view field : fields_) {
    // The mark of UTF-8, behind which a quote is not the first byte of its field.
    if (absl::ConsumePrefix(&field, "\xef\xbb\xbf") && absl::ConsumePrefix(&field, "\"")) {
      absl::ConsumeSuffix(&field, "\"");
    }
    const std::string name = absl::AsciiStrToLower(absl::StripAsciiWhitespace(field));
    Column& column = columns.emplace_back();
    for (size_t kind = 0; kind < kKinds.size() && !name.empty(); ++kind) {
      const auto& names = kKinds[kind].names;
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) continue;
      column = {static_cast<int>(kind), static_cast<int>(found - names.begin())};
    }
  }
  fields_.clear();
}

}  // namespace rapideye::cli
