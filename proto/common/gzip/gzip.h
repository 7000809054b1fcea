// Compresses and decompresses gzip, piece by piece.
//
// Beyond the bytes in and out an object holds only zlib's own state, at most about 300 KiB.
// Objects are not synchronised.
#ifndef RAPIDEYE_PROTO_COMMON_GZIP_GZIP_H_
#define RAPIDEYE_PROTO_COMMON_GZIP_GZIP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct z_stream_s;  // zlib's

namespace rapideye::gzip {

// Compresses pieces into one member without name or time: the same pieces give the same
// bytes.
class Compressor {
 public:
  static constexpr int kDefaultLevel = -1;  // what zlib takes for the best compromise

  // `level`: 1, the fastest, to 9, the smallest. The output never exceeds `max_bytes`,
  // whatever the pieces are.
  explicit Compressor(int level = kDefaultLevel, size_t max_bytes = SIZE_MAX);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // `piece` has less than 4 GiB. RESOURCE_EXHAUSTED, and nothing is added: with this piece
  // the output might exceed `max_bytes`. INTERNAL: zlib has no memory.
  absl::Status Add(std::string_view piece);
  // The whole output. Call once, last. INTERNAL as for Add.
  absl::StatusOr<std::string> Finish();

 private:
  absl::Status Run(std::string_view piece, int flush);

  const std::unique_ptr<z_stream_s> zlib_;
  const size_t max_bytes_;
  bool started_ = false;
  std::string output_;
};

// Decompresses all members of a file, one after the other.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Moves `input` past its used part and sets `written` to the number of bytes at `output`,
  // which has room for `room` (1 to 4 GiB). Zero: all of `input` is used, and more is needed,
  // if there is more. INVALID_ARGUMENT: this is not gzip, or broken; bytes written before are
  // good. INTERNAL: zlib has no memory.
  absl::Status Run(std::string_view& input, char* output, size_t room, size_t& written);
  // Call when there is no more input. INVALID_ARGUMENT: the last member is cut short.
  absl::Status Finish() const;

 private:
  absl::Status Step(std::string_view& input);

  const std::unique_ptr<z_stream_s> zlib_;
  bool started_ = false;
  bool between_members_ = false;  // a member has ended, no byte of another seen
};

// Decompresses all at once. INVALID_ARGUMENT: `gzip` is not gzip, broken, or cut short.
// RESOURCE_EXHAUSTED: more than `max_bytes` once decompressed.
absl::StatusOr<std::string> Decompress(std::string_view gzip, size_t max_bytes);

}  // namespace rapideye::gzip

#endif  // RAPIDEYE_PROTO_COMMON_GZIP_GZIP_H_
