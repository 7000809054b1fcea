// ByteSource reads the bytes of a capture in order, plain or decompressed, with bounded memory.
#ifndef RAPIDEYE_PROTO_WIRE_BYTE_SOURCE_H_
#define RAPIDEYE_PROTO_WIRE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace rapideye::wire {

// Reads bytes in chunks.
class ChunkReader {
 public:
  virtual ~ChunkReader() = default;
  // Fills `buffer` from its start and sets `size`; 0 means the end.
  // INVALID_ARGUMENT for broken data, INTERNAL for a failed read.
  virtual absl::Status Read(std::vector<char>& buffer, size_t& size) = 0;
};

// A stream as it is. `in` must outlive the reader.
std::unique_ptr<ChunkReader> MakePlainReader(std::istream& in);
// gzip, all members of it; a truncated one and anything after the last are errors.
std::unique_ptr<ChunkReader> MakeGzipReader(std::unique_ptr<ChunkReader> compressed);

// A window over a ChunkReader that the parsers read byte by byte. Ends at the
// data's end, at the first error, and at `max_bytes`; status() tells which. Not
// synchronised.
class ByteSource {
 public:
  ByteSource(std::unique_ptr<ChunkReader> reader, uint64_t max_bytes);

  // True if no byte is left, or none that can be read.
  bool AtEnd() { return next_ == end_ && !Refill(); }
  // The next byte; only when not AtEnd().
  char Peek() const { return *next_; }
  void Advance() { ++next_; }
  // Up to `size` of the next bytes, fewer only at the end. They stay valid until
  // the next call. `size` is at most kLookahead.
  std::string_view Lookahead(size_t size);
  // Copies up to `size` bytes and moves past them; returns how many there were.
  size_t Take(char* to, size_t size);

  const absl::Status& status() const { return status_; }
  // Returns a reader that begins with the bytes not consumed yet.
  std::unique_ptr<ChunkReader> Release();

  static constexpr size_t kLookahead = 16;

 private:
  bool Refill();

  std::unique_ptr<ChunkReader> reader_;
  std::vector<char> buffer_;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  uint64_t left_;
  absl::Status status_;
};

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_BYTE_SOURCE_H_
