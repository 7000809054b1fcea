#include "proto/capture/capture_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/wire/evidence_wire.h"
#include "proto/wire/json_writer.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {
namespace {

// Compresses what is appended to it, as one gzip member without name or time, so
// that the same bytes give the same bytes.
class Gzip {
 public:
  explicit Gzip(std::string& out) : out_(out) {
    constexpr int kGzip = 16;
    constexpr int kDefaultMemory = 8;
    ready_ = deflateInit2(&zlib_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip,
                          kDefaultMemory, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Gzip() {
    if (ready_) deflateEnd(&zlib_);
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  absl::Status Append(std::string_view bytes) { return Run(bytes, Z_NO_FLUSH); }
  absl::Status Finish() { return Run({}, Z_FINISH); }

 private:
  // A record is at most kMaxRecordBytes, so its size fits zlib's counters.
  absl::Status Run(std::string_view bytes, int flush) {
    if (!ready_) return absl::InternalError("zlib cannot be started (out of memory?)");
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib_.avail_in = static_cast<uInt>(bytes.size());
    char chunk[16 * 1024];
    do {
      zlib_.next_out = reinterpret_cast<Bytef*>(chunk);
      zlib_.avail_out = sizeof(chunk);
      if (deflate(&zlib_, flush) == Z_STREAM_ERROR) return absl::InternalError("zlib failed");
      out_.append(chunk, sizeof(chunk) - zlib_.avail_out);
    } while (zlib_.avail_out == 0);
    return absl::OkStatus();
  }

  std::string& out_;
  z_stream zlib_ = {};
  bool ready_ = false;
};

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

// One record after the other, encoded and perhaps compressed.
class RecordWriter {
 public:
  explicit RecordWriter(const WriteOptions& options) : options_(options), gzip_(out_) {}

  absl::Status Add(const v1::CaptureRecord& record) {
    if (record.ByteSizeLong() > kMaxRecordBytes || record.SpaceUsedLong() > kMaxRecordMemory) {
      return TooLarge(record);
    }
    const std::string bytes = Encode(record, options_.encoding);
    if (bytes.size() > kMaxRecordBytes) return TooLarge(record);
    if (options_.gzip) return gzip_.Append(bytes);
    out_ += bytes;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Finish() {
    if (options_.gzip) {
      if (absl::Status status = gzip_.Finish(); !status.ok()) return status;
    }
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
  Gzip gzip_;
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
