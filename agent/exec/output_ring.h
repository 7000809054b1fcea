// OutputRing holds the last bytes of one output of the command, in memory that processes share.
#ifndef RAPIDEYE_AGENT_EXEC_OUTPUT_RING_H_
#define RAPIDEYE_AGENT_EXEC_OUTPUT_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace rapideye::agent {

// The relay reads the command's output straight into the ring and writes it out from
// there: sharing it costs two stores a piece. The relay never waits for the
// reader; bytes that the reader has not read in time are lost to the reader alone.
//
// One process relays and one reads at a time. Either may be killed at any moment and
// another carries on: all positions are in the shared memory.
class OutputRing {
 public:
  // Shared with every process that is forked afterwards. RESOURCE_EXHAUSTED: there
  // is no memory for it.
  static absl::StatusOr<std::unique_ptr<OutputRing>> Create();
  ~OutputRing();
  OutputRing(const OutputRing&) = delete;
  OutputRing& operator=(const OutputRing&) = delete;

  // The relay ---------------------------------------------------------------

  // The space for the next bytes; its old bytes are lost from now on. Call only when
  // Unwritten is empty.
  absl::Span<char> Space();
  // Adds `size` bytes that were written to Space(). True: much waits, wake the reader.
  bool Took(size_t size);
  // Bytes that have come and are to be passed on next; empty: none.
  absl::string_view Unwritten() const;
  void Wrote(size_t size);

  // Any process -------------------------------------------------------------

  // True if all bytes that came were passed on.
  bool Drained() const;
  // Bytes that were passed on, since the beginning.
  uint64_t written() const;

  // The reader --------------------------------------------------------------

  struct Portion {
    size_t size = 0;       // copied; 0: nothing is left
    uint64_t skipped = 0;  // bytes before these, lost to a reader that was too slow
  };
  Portion Read(absl::Span<char> to);

 private:
  struct Shared;

  explicit OutputRing(Shared* shared) : shared_(shared) {}

  Shared* const shared_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_EXEC_OUTPUT_RING_H_
