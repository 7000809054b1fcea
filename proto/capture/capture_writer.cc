#include "proto/capture/capture_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/common/gzip/gzip.h"
#include "proto/wire/evidence_wire.h"
#include "proto/wire/json_writer.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {
namespace {

std::string Encode(const v1::CaptureRecord& record, Encoding encoding) {
  std::string out;
  if (encoding == Encoding::kJsonLines) {
    AppendJson(record, out);
    out += '\n';
    return out;
  }
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.WriteVarint32(static_cast<uint32_t>(record.ByteSizeLong()));
  record.SerializeToCodedStream(&coded);
  coded.Trim();
  return out;
}

// Writes records one after the other, encoded and perhaps compressed.
class RecordWriter {
 public:
  explicit RecordWriter(const WriteOptions& options) : options_(options) {}

  absl::Status Add(const v1::CaptureRecord& record) {
    if (record.ByteSizeLong() > kMaxRecordBytes || record.SpaceUsedLong() > kMaxRecordMemory) {
      return TooLarge(record);
    }
    const std::string bytes = Encode(record, options_.encoding);
    if (bytes.size() > kMaxRecordBytes) return TooLarge(record);
    if (options_.gzip) return compressor_.Add(bytes);
    out_ += bytes;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Finish() {
    if (options_.gzip) return compressor_.Finish();
    return std::move(out_);
  }

 private:
  static absl::Status TooLarge(const v1::CaptureRecord& record) {
    const v1::WorkerId& worker = record.snapshot().worker();
    return absl::ResourceExhaustedError(
        absl::StrCat(record.has_header() ? std::string("the header")
                                         : absl::StrCat("the snapshot of worker slice ",
                                                        worker.slice(), " task ", worker.task()),
                     " is larger than readers take"));
  }

  const WriteOptions options_;
  std::string out_;
  gzip::Compressor compressor_;
};

}  // namespace

absl::StatusOr<std::string> WriteCapture(const Capture& capture, const WriteOptions& options) {
  RecordWriter writer(options);
  v1::CaptureRecord record;
  *record.mutable_header() = HeaderToWire(capture.header);
  if (absl::Status status = writer.Add(record); !status.ok()) return status;

  std::vector<const Snapshot*> snapshots;
  snapshots.reserve(capture.snapshots.size());
  for (const Snapshot& snapshot : capture.snapshots) snapshots.push_back(&snapshot);
  std::sort(snapshots.begin(), snapshots.end(),
            [](const Snapshot* a, const Snapshot* b) { return a->worker < b->worker; });
  for (const Snapshot* snapshot : snapshots) {
    *record.mutable_snapshot() = SnapshotToWire(*snapshot);
    if (absl::Status status = writer.Add(record); !status.ok()) return status;
  }
  return writer.Finish();
}

}  // namespace rapideye::wire
