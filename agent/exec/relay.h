// Relay copies one output of the command to the supervisor's own output.
#ifndef RAPIDEYE_AGENT_EXEC_RELAY_H_
#define RAPIDEYE_AGENT_EXEC_RELAY_H_

#include <atomic>
#include <memory>
#include <vector>

#include "agent/exec/output_ring.h"
#include "proto/common/worker/worker.h"

namespace rapideye::agent {

// The parts of a relay, which its thread and its heirs share.
struct RelayedOutput {
  int from = -1;  // the pipe that the command writes, to be read
  int to = -1;    // a descriptor of this process, to be written
  int wake = -1;  // an eventfd for the reader of the ring
  int over = -1;  // an eventfd that becomes readable when there is no more to relay, and stays so
  std::unique_ptr<OutputRing> ring;
  std::atomic<bool> is_over = false;
  // All that was taken from the pipe has been passed on. Of an empty pipe this must be read after
  // it was seen to be empty.
  std::atomic<bool> awaits_more = false;
};

// Copies every byte in order, on a thread of its own, until the writers have closed the pipe or
// the output cannot be written. Then closes the pipe: the command gets SIGPIPE if it goes on.
// Begins with what another relay has left in the ring. Blocks as the command itself would if
// it wrote to `to`.
class Relay {
 public:
  explicit Relay(std::shared_ptr<RelayedOutput> output);
  // Returns at once; a copy that is under way ends with the process.
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  const RelayedOutput& output() const { return *output_; }

 private:
  const std::shared_ptr<RelayedOutput> output_;
  Worker worker_;
};

// Continues the relay of another process if that dies before the relay is over; runs in a child
// that was forked while it ran, and blocks until it is over. `process`: a pidfd of the process that
// relays until it dies. That may be after a write and before the ring knows of it: that piece, at
// most kOutputPieceBytes, is then written a second time. No byte is lost.
void InheritRelay(int process, const RelayedOutput& output);

// The same for several outputs, on threads of its own, with descriptors of its own, which it keeps
// no longer than an output lasts.
class RelayHeir {
 public:
  // Throws std::system_error if no thread can be had.
  RelayHeir(int process, const std::vector<const RelayedOutput*>& outputs);
  ~RelayHeir();
  RelayHeir(const RelayHeir&) = delete;
  RelayHeir& operator=(const RelayHeir&) = delete;

  // Blocks until all relays are over.
  void Wait();

 private:
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_EXEC_RELAY_H_
