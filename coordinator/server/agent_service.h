// AgentService is the gRPC service for agents: one bidirectional stream per agent.
//
// Peers are untrusted. A stream has at most one message on its way to the core,
// so a peer that floods waits; a peer that does not read is cut off; a message that
// breaks a rule never reaches the core, and one that would take too much memory is
// never built.
#ifndef RAPIDEYE_COORDINATOR_SERVER_AGENT_SERVICE_H_
#define RAPIDEYE_COORDINATOR_SERVER_AGENT_SERVICE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/server/event_queue.h"
#include "proto/common/sync/mutex.h"
#include "proto/transport/tls_files.h"
#include "v1/agent.grpc.pb.h"

namespace rapideye::coordinator {

class AgentStream;

// Thread-safe. Outlives the server that it is registered with.
class AgentService final
    : public v1::Rendezvous::WithRawCallbackMethod_Attach<v1::Rendezvous::Service> {
 public:
  // `identities`: names that an agent's certificate must hold (proto/transport/identity.h);
  // empty: any agent may attach.
  explicit AgentService(EventQueue& queue, std::vector<std::string> identities = {})
      : queue_(queue), identities_(std::move(identities)) {}
  ~AgentService() override;

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Attach(
      grpc::CallbackServerContext* context) override;

  // Both do nothing for a stream that is gone.
  void Send(StreamId stream, const wire::CoordinatorMessage& message);
  void Close(StreamId stream, const absl::Status& status);
  void ReadNext(StreamId stream);
  // Cuts off streams that were closed kCloseGrace ago and are still there.
  void CutOffOverdue(absl::Duration now);
  // Ends the streams whose certificate is refused, with the reason, and refuses later ones. Streams
  // without TLS are left alone.
  void CheckPeers(std::shared_ptr<const transport::PeerChecker> checker);
  // The number of open streams, admitted or not.
  size_t streams() const;

 private:
  friend class AgentStream;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Refuse(
      grpc::CallbackServerContext* context, const absl::Status& why);
  std::shared_ptr<AgentStream> Find(StreamId stream);
  std::vector<std::pair<StreamId, std::shared_ptr<AgentStream>>> Streams();
  // The stream has ended for good.
  void Remove(StreamId stream);

  EventQueue& queue_;
  const std::vector<std::string> identities_;
  mutable Mutex mutex_;
  std::shared_ptr<const transport::PeerChecker> checker_ ABSL_GUARDED_BY(mutex_);  // nullptr: none
  StreamId next_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::flat_hash_map<StreamId, std::shared_ptr<AgentStream>> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_AGENT_SERVICE_H_
