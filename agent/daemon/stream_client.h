// StreamClient is the stream to the coordinator, over gRPC.
#ifndef RAPIDEYE_AGENT_DAEMON_STREAM_CLIENT_H_
#define RAPIDEYE_AGENT_DAEMON_STREAM_CLIENT_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/security/credentials.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "proto/common/secrets/redactor.h"
#include "proto/common/worker/thread.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Owned and called by one thread. Its sink is called from a thread of its own with
// MessageReceived and StreamClosed, and must return at once. (gRPC's threads for
// callbacks would wake once a second each, for nothing.)
class StreamClient {
 public:
  using Sink = std::function<void(Event)>;

  // Redacts every message before it is sent.
  StreamClient(std::string address, std::shared_ptr<grpc::ChannelCredentials> credentials,
               secrets::Redactor redactor, Sink sink);
  // Cuts a stream that is still there, and waits until gRPC is done with it.
  ~StreamClient();
  StreamClient(const StreamClient&) = delete;
  StreamClient& operator=(const StreamClient&) = delete;

  // Opens a stream on a new connection (a coordinator may have moved), and cuts
  // the previous one.
  void Connect(int64_t stream);
  // Queues the message. A heartbeat that still waits gives way to a newer one.
  // A coordinator that does not read loses its stream once too many wait.
  void Send(const wire::AgentMessage& message);
  // To be called when a message from the sink has been dealt with: only then
  // is the next one read, so a flood waits in the coordinator, not here.
  void ReadNext(int64_t stream);
  // Ends the stream after what waits has been written.
  void Close();
  // Waits until the stream has ended, for at most `patience`.
  void AwaitEnd(absl::Duration patience);

 private:
  class Stream;

  void Run();

  const std::string address_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const secrets::Redactor redactor_;
  const Sink sink_;
  grpc::CompletionQueue queue_;
  std::shared_ptr<Stream> stream_;
  Thread thread_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_STREAM_CLIENT_H_
