#include "proto/wire/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::wire {
namespace {

// Large enough that the cost per chunk vanishes, small enough for a cache.
constexpr size_t kChunkBytes = 64 * 1024;

class PlainReader : public ChunkReader {
 public:
  explicit PlainReader(std::istream& in) : in_(in) {}

  absl::Status Read(std::vector<char>& buffer, size_t& size) override {
    buffer.resize(kChunkBytes);
    in_.read(buffer.data(), kChunkBytes);
    size = static_cast<size_t>(in_.gcount());
    if (in_.bad()) return absl::InternalError("the capture cannot be read to its end");
    return absl::OkStatus();
  }

 private:
  std::istream& in_;
};

// Bytes that were looked at already, then the rest.
class PrefixedReader : public ChunkReader {
 public:
  PrefixedReader(std::vector<char> prefix, std::unique_ptr<ChunkReader> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  absl::Status Read(std::vector<char>& buffer, size_t& size) override {
    if (prefix_.empty()) return rest_->Read(buffer, size);
    buffer = std::exchange(prefix_, {});
    size = buffer.size();
    return absl::OkStatus();
  }

 private:
  std::vector<char> prefix_;
  std::unique_ptr<ChunkReader> rest_;
};

class GzipReader : public ChunkReader {
 public:
  explicit GzipReader(std::unique_ptr<ChunkReader> in) : in_(std::move(in)) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&zlib_, MAX_WBITS + kGzipOnly) != Z_OK) {
      broken_ = absl::InternalError("zlib cannot be started (out of memory?)");
    }
  }
  ~GzipReader() override { inflateEnd(&zlib_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  absl::Status Read(std::vector<char>& buffer, size_t& size) override {
    buffer.resize(kChunkBytes);
    zlib_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    zlib_.avail_out = kChunkBytes;
    while (broken_.ok() && zlib_.avail_out == kChunkBytes && !finished_) broken_ = Step();
    size = kChunkBytes - zlib_.avail_out;
    return broken_;
  }

 private:
  // Inflates some, or moves on to the next member or the end.
  absl::Status Step() {
    if (zlib_.avail_in == 0) {
      if (absl::Status status = MoreInput(); !status.ok()) return status;
      if (zlib_.avail_in == 0) {
        if (!between_members_) return absl::InvalidArgumentError("gzip: the file is cut short");
        finished_ = true;
        return absl::OkStatus();
      }
    }
    if (between_members_) {
      if (inflateReset(&zlib_) != Z_OK) return absl::InternalError("gzip: zlib cannot be reset");
      between_members_ = false;
    }
    switch (inflate(&zlib_, Z_NO_FLUSH)) {
      case Z_OK:
      case Z_BUF_ERROR:  // needs more input: the next step brings it, or the end
        return absl::OkStatus();
      case Z_STREAM_END:
        between_members_ = true;
        return absl::OkStatus();
      case Z_MEM_ERROR:
        return absl::InternalError("gzip: out of memory");
      default:
        return absl::InvalidArgumentError(
            absl::StrCat("gzip: broken data (", zlib_.msg != nullptr ? zlib_.msg : "unknown", ")"));
    }
  }

  absl::Status MoreInput() {
    size_t size = 0;
    if (absl::Status status = in_->Read(compressed_, size); !status.ok()) return status;
    zlib_.next_in = reinterpret_cast<Bytef*>(compressed_.data());
    zlib_.avail_in = static_cast<uInt>(size);
    return absl::OkStatus();
  }

  std::unique_ptr<ChunkReader> in_;
  std::vector<char> compressed_;
  z_stream zlib_ = {};
  bool between_members_ = false;  // a member has ended, no byte of another seen
  bool finished_ = false;
  absl::Status broken_;
};

}  // namespace

std::unique_ptr<ChunkReader> MakePlainReader(std::istream& in) {
  return std::make_unique<PlainReader>(in);
}

std::unique_ptr<ChunkReader> MakeGzipReader(std::unique_ptr<ChunkReader> compressed) {
  return std::make_unique<GzipReader>(std::move(compressed));
}

ByteSource::ByteSource(std::unique_ptr<ChunkReader> reader, uint64_t max_bytes)
    : reader_(std::move(reader)), left_(max_bytes) {}

bool ByteSource::Refill() {
  if (!status_.ok()) return false;
  size_t size = 0;
  status_ = reader_->Read(buffer_, size);
  if (size > left_) {
    status_ = absl::InvalidArgumentError("the capture is too large once decompressed");
    size = left_;
  }
  left_ -= size;
  next_ = buffer_.data();
  end_ = next_ + size;
  return size > 0;
}

std::string_view ByteSource::Lookahead(size_t size) {
  size = std::min(size, kLookahead);
  // Chunks may be short: join what is left with what comes.
  while (static_cast<size_t>(end_ - next_) < size) {
    std::vector<char> kept(next_, end_);
    if (!Refill()) {
      buffer_ = std::move(kept);
      next_ = buffer_.data();
      end_ = next_ + buffer_.size();
      break;
    }
    kept.insert(kept.end(), next_, end_);
    buffer_ = std::move(kept);
    next_ = buffer_.data();
    end_ = next_ + buffer_.size();
  }
  return {next_, std::min<size_t>(size, end_ - next_)};
}

size_t ByteSource::Take(char* to, size_t size) {
  size_t taken = 0;
  while (taken < size && !AtEnd()) {
    const size_t piece = std::min<size_t>(size - taken, end_ - next_);
    std::memcpy(to + taken, next_, piece);
    next_ += piece;
    taken += piece;
  }
  return taken;
}

std::unique_ptr<ChunkReader> ByteSource::Release() {
  std::vector<char> rest(next_, end_);
  next_ = end_ = nullptr;
  return std::make_unique<PrefixedReader>(std::move(rest), std::move(reader_));
}

}  // namespace rapideye::wire
