#include "proto/wire/byte_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/common/gzip/gzip.h"

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
  explicit GzipReader(std::unique_ptr<ChunkReader> in) : in_(std::move(in)) {}

  absl::Status Read(std::vector<char>& buffer, size_t& size) override {
    buffer.resize(kChunkBytes);
    size = 0;
    while (broken_.ok() && size == 0 && !finished_) broken_ = Step(buffer, size);
    return broken_;
  }

 private:
  // Decompresses some, or moves on to the end.
  absl::Status Step(std::vector<char>& buffer, size_t& size) {
    if (unused_.empty()) {
      size_t more = 0;
      if (absl::Status status = in_->Read(compressed_, more); !status.ok()) return status;
      unused_ = {compressed_.data(), more};
      finished_ = more == 0;
      if (finished_) return decompressor_.Finish();
    }
    return decompressor_.Run(unused_, buffer.data(), buffer.size(), size);
  }

  const std::unique_ptr<ChunkReader> in_;
  std::vector<char> compressed_;
  std::string_view unused_;  // of compressed_
  gzip::Decompressor decompressor_;
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
  // Chunks may be short: join the bytes that are left with the next ones.
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
