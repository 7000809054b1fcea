// Mailbox hands messages that have arrived to the threads that wait for them.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_MAILBOX_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_MAILBOX_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>

#include "tests/testbed/model/mesh_message.h"

namespace rapideye::testbed {

// Thread-safe. What nobody takes stays: a worker that went astray leaves at most
// one message per core and peer, because it then waits itself.
class Mailbox {
 public:
  void Deliver(MeshMessage message);

  // Blocks until the message has arrived and takes it out; nullopt if `stop` is
  // requested first. Of several that wait for one address, one gets it.
  std::optional<Vector> Await(const MessageAddress& address, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::map<MessageAddress, Vector> messages_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_MAILBOX_H_
