#include "agent/sources/hlo_dump/fetch_gzip.h"

#include <algorithm>
#include <new>
#include <utility>

namespace rapideye::agent {
namespace {

// HLO shrinks to a tenth at any level; the default takes twice as long for the last
// fifth of that.
constexpr int kLevel = 4;
constexpr int kGzipWindow = MAX_WBITS + 16;
constexpr int kDefaultMemory = 8;
// What deflate may still hold back of earlier pieces, and the format's own end.
constexpr size_t kHeldBack = 256 * 1024;

}  // namespace

GzipText::GzipText(size_t limit) : limit_(limit) {
  // It fails for want of memory only.
  if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, kDefaultMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
}

GzipText::~GzipText() { deflateEnd(&stream_); }

bool GzipText::Add(absl::string_view piece) {
  if (output_.size() + compressBound(piece.size()) + kHeldBack > limit_) return false;
  Deflate(piece, Z_NO_FLUSH);
  return true;
}

std::string GzipText::Finish() {
  Deflate({}, Z_FINISH);
  return std::move(output_);
}

void GzipText::Deflate(absl::string_view piece, int flush) {
  // zlib only reads it.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream_.avail_in = static_cast<uInt>(piece.size());
  std::string room(std::max<size_t>(piece.size() / 4, 16 * 1024), '\0');
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(room.size());
    deflate(&stream_, flush);
    output_.append(room.data(), room.size() - stream_.avail_out);
  } while (stream_.avail_out == 0);
}

}  // namespace rapideye::agent
