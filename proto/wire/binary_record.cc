#include "proto/wire/binary_record.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {
namespace {

// Bytes of a 32-bit varint; more than kMaxRecordBytes needs.
constexpr int kMaxLengthBytes = 5;
// Room is made as bytes arrive, not as a length promises them.
constexpr size_t kGrowthBytes = 1024 * 1024;

// Field 1 or 2 of CaptureRecord, length-delimited.
bool IsRecordTag(char byte) { return byte == 0x0A || byte == 0x12; }

std::optional<uint64_t> ReadLength(ByteSource& in) {
  uint64_t length = 0;
  for (int i = 0; i < kMaxLengthBytes; ++i) {
    if (in.AtEnd()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(in.Peek());
    in.Advance();
    length |= uint64_t{byte & 0x7Fu} << (7 * i);
    if ((byte & 0x80) == 0) return length;
  }
  return std::nullopt;
}

absl::Status ReadBytes(ByteSource& in, size_t length, std::string& bytes) {
  while (bytes.size() < length) {
    const size_t before = bytes.size();
    const size_t piece = std::min(length - before, kGrowthBytes);
    bytes.resize(before + piece);
    const size_t taken = in.Take(bytes.data() + before, piece);
    if (taken == piece) continue;
    if (!in.status().ok()) return in.status();
    return absl::InvalidArgumentError(
        absl::StrCat("cut short: ", before + taken, " of ", length, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

bool LooksBinary(ByteSource& in) {
  const std::string_view begin = in.Lookahead(kMaxLengthBytes + 1);
  for (size_t i = 0; i + 1 < begin.size(); ++i) {
    if ((static_cast<unsigned char>(begin[i]) & 0x80) == 0) return IsRecordTag(begin[i + 1]);
  }
  return false;
}

absl::Status ReadBinaryRecord(ByteSource& in, RecordBudget& budget, v1::CaptureRecord& record) {
  const std::optional<uint64_t> length = ReadLength(in);
  if (!in.status().ok()) return in.status();
  if (!length) return absl::InvalidArgumentError("its length is cut short or no varint");
  if (*length > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("longer than ", kMaxRecordBytes, " bytes (", *length, ")"));
  }
  std::string bytes;
  if (absl::Status status = ReadBytes(in, *length, bytes); !status.ok()) return status;
  absl::Status error;
  if (!ChargeSerialised(*v1::CaptureRecord::descriptor(), bytes, budget, error)) return error;
  if (!record.ParseFromString(bytes)) {
    return absl::InvalidArgumentError("not a capture record (a string that is not UTF-8, maybe)");
  }
  if (record.record_case() == v1::CaptureRecord::RECORD_NOT_SET) {
    return absl::InvalidArgumentError("holds neither a header nor a snapshot");
  }
  return absl::OkStatus();
}

}  // namespace rapideye::wire
