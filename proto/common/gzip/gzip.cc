#include "proto/common/gzip/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::gzip {
namespace {

constexpr int kGzipWindow = MAX_WBITS + 16;  // gzip's header and check, no other's
constexpr int kDefaultMemory = 8;
constexpr size_t kPieceBytes = 16 * 1024;
// Bytes that deflate may still hold back, and the end of the format.
constexpr size_t kHeldBack = 256 * 1024;

absl::Status NotStarted() { return absl::InternalError("zlib cannot be started (out of memory?)"); }

// zlib only reads it.
Bytef* In(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

}  // namespace

Compressor::Compressor(int level, size_t max_bytes)
    : zlib_(std::make_unique<z_stream>()), max_bytes_(max_bytes) {
  started_ = deflateInit2(zlib_.get(), level, Z_DEFLATED, kGzipWindow, kDefaultMemory,
                          Z_DEFAULT_STRATEGY) == Z_OK;
}

Compressor::~Compressor() {
  if (started_) deflateEnd(zlib_.get());
}

absl::Status Compressor::Add(std::string_view piece) {
  if (output_.size() + compressBound(piece.size()) + kHeldBack > max_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the compressed data might exceed ", max_bytes_, " bytes"));
  }
  return Run(piece, Z_NO_FLUSH);
}

absl::StatusOr<std::string> Compressor::Finish() {
  if (absl::Status status = Run({}, Z_FINISH); !status.ok()) return status;
  return std::move(output_);
}

absl::Status Compressor::Run(std::string_view piece, int flush) {
  if (!started_) return NotStarted();
  zlib_->next_in = In(piece);
  zlib_->avail_in = static_cast<uInt>(piece.size());
  char room[kPieceBytes];
  do {
    zlib_->next_out = reinterpret_cast<Bytef*>(room);
    zlib_->avail_out = sizeof(room);
    if (deflate(zlib_.get(), flush) == Z_STREAM_ERROR) return absl::InternalError("zlib failed");
    output_.append(room, sizeof(room) - zlib_->avail_out);
  } while (zlib_->avail_out == 0);
  return absl::OkStatus();
}

Decompressor::Decompressor() : zlib_(std::make_unique<z_stream>()) {
  started_ = inflateInit2(zlib_.get(), kGzipWindow) == Z_OK;
}

Decompressor::~Decompressor() {
  if (started_) inflateEnd(zlib_.get());
}

absl::Status Decompressor::Run(std::string_view& input, char* output, size_t room,
                               size_t& written) {
  written = 0;
  if (!started_) return NotStarted();
  zlib_->next_out = reinterpret_cast<Bytef*>(output);
  zlib_->avail_out = static_cast<uInt>(room);
  absl::Status status;
  while (status.ok() && written == 0 && !input.empty()) {
    status = Step(input);
    written = room - zlib_->avail_out;
  }
  return status;
}

absl::Status Decompressor::Finish() const {
  if (!started_) return NotStarted();
  if (!between_members_) return absl::InvalidArgumentError("gzip: the file is cut short");
  return absl::OkStatus();
}

// Inflates some, or moves on to the next member.
absl::Status Decompressor::Step(std::string_view& input) {
  if (between_members_) {
    if (inflateReset(zlib_.get()) != Z_OK) {
      return absl::InternalError("gzip: zlib cannot be reset");
    }
    between_members_ = false;
  }
  const size_t given = std::min<size_t>(input.size(), std::numeric_limits<uInt>::max());
  zlib_->next_in = In(input);
  zlib_->avail_in = static_cast<uInt>(given);
  const int result = inflate(zlib_.get(), Z_NO_FLUSH);
  input.remove_prefix(given - zlib_->avail_in);
  switch (result) {
    case Z_OK:
    case Z_BUF_ERROR:  // needs more input
      return absl::OkStatus();
    case Z_STREAM_END:
      between_members_ = true;
      return absl::OkStatus();
    case Z_MEM_ERROR:
      return absl::InternalError("gzip: out of memory");
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("gzip: broken data (", zlib_->msg != nullptr ? zlib_->msg : "unknown", ")"));
  }
}

absl::StatusOr<std::string> Decompress(std::string_view gzip, size_t max_bytes) {
  Decompressor decompressor;
  std::string text;
  char room[kPieceBytes];
  for (;;) {
    size_t written = 0;
    if (absl::Status status = decompressor.Run(gzip, room, sizeof(room), written); !status.ok()) {
      return status;
    }
    if (written == 0) break;
    if (written > max_bytes - text.size()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", max_bytes, " bytes once decompressed"));
    }
    text.append(room, written);
  }
  if (absl::Status status = decompressor.Finish(); !status.ok()) return status;
  return text;
}

}  // namespace rapideye::gzip
