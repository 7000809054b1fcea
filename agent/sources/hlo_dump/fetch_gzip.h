// Compresses a text piece by piece, up to a bound.
#ifndef RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_GZIP_H_
#define RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_GZIP_H_

#include <zlib.h>

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace rapideye::agent {

// In gzip's format. The output never exceeds `limit`, whatever the text.
class GzipText {
 public:
  explicit GzipText(size_t limit);
  ~GzipText();
  GzipText(const GzipText&) = delete;
  GzipText& operator=(const GzipText&) = delete;

  // False, and nothing is added: with this piece the output might exceed the limit.
  bool Add(absl::string_view piece);
  // Call once, last.
  std::string Finish();

 private:
  void Deflate(absl::string_view piece, int flush);

  const size_t limit_;
  z_stream stream_{};
  std::string output_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_GZIP_H_
