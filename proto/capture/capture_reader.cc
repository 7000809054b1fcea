#include "proto/capture/capture_reader.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/binary_record.h"
#include "proto/wire/byte_source.h"
#include "proto/wire/evidence_wire.h"
#include "proto/wire/json_record.h"
#include "proto/wire/limits.h"
#include "proto/wire/record_budget.h"

namespace rapideye::wire {
namespace {

constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kJsonBegin = "{\"";

// Puts a capture together, record by record, in the order that the format
// prescribes.
class CaptureBuilder {
 public:
  absl::Status Add(const v1::CaptureRecord& record) {
    if (record.has_header()) return AddHeader(record.header());
    if (!admission_) return absl::InvalidArgumentError("a snapshot before the header");
    absl::StatusOr<Snapshot> snapshot = SnapshotFromWire(record.snapshot());
    if (!snapshot.ok()) return snapshot.status();
    absl::Status admitted = admission_->Admit(snapshot->worker);
    if (admitted.ok()) capture_.snapshots.push_back(*std::move(snapshot));
    return admitted;
  }

  // Call once, when all records are in.
  Capture Take() { return std::move(capture_); }

 private:
  absl::Status AddHeader(const v1::CaptureHeader& message) {
    if (admission_) return absl::InvalidArgumentError("header: a second one");
    absl::StatusOr<CaptureHeader> header = HeaderFromWire(message);
    if (!header.ok()) return header.status();
    capture_.header = *std::move(header);
    admission_.emplace(capture_.header);
    return absl::OkStatus();
  }

  Capture capture_;
  std::optional<SnapshotAdmission> admission_;  // set once there is a header
};

absl::Status At(absl::string_view unit, int64_t number, const absl::Status& status) {
  return {status.code(), absl::StrCat(unit, " ", number, ": ", status.message())};
}

absl::StatusOr<Capture> ReadRecords(ByteSource& in) {
  if (in.AtEnd()) {
    return in.status().ok() ? absl::InvalidArgumentError(
                                  "line 1: the file is empty, neither a capture nor a log")
                            : At("line", 1, in.status());
  }
  const bool binary = in.Lookahead(kJsonBegin.size()) != kJsonBegin && LooksBinary(in);
  const absl::string_view unit = binary ? "record" : "line";
  CaptureBuilder builder;
  RecordBudget budget;
  int64_t number = 0;
  while (!in.AtEnd()) {
    ++number;
    budget.Reset();
    v1::CaptureRecord record;
    absl::Status status =
        binary ? ReadBinaryRecord(in, budget, record) : ReadJsonRecord(in, budget, record);
    if (status.ok()) status = builder.Add(record);
    if (!status.ok()) return At(unit, number, status);
  }
  if (!in.status().ok()) return At(unit, number + 1, in.status());
  return builder.Take();
}

}  // namespace

absl::StatusOr<Capture> ReadCapture(std::istream& stream) {
  ByteSource in(MakePlainReader(stream), kMaxCaptureBytes);
  if (in.Lookahead(kGzipMagic.size()) != kGzipMagic) return ReadRecords(in);
  ByteSource inflated(MakeGzipReader(in.Release()), kMaxCaptureBytes);
  if (inflated.Lookahead(kGzipMagic.size()) == kGzipMagic) {
    return absl::InvalidArgumentError("line 1: compressed twice: decompress it once");
  }
  return ReadRecords(inflated);
}

absl::StatusOr<Capture> ReadCaptureFile(const std::string& path) {
  // It can be opened, and fails when it is read.
  if (std::error_code error; std::filesystem::is_directory(path, error)) {
    return absl::InternalError(absl::StrCat(path, " is a directory; name the files in it"));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    const int error = errno;
    const std::string text = absl::StrCat("cannot open ", path, ": ", std::strerror(error));
    return error == ENOENT ? absl::NotFoundError(text) : absl::InternalError(text);
  }
  return ReadCapture(file);
}

}  // namespace rapideye::wire
