#include "coordinator/server/agent_service.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/limits.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"
#include "proto/transport/identity.h"
#include "proto/transport/status_conversion.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {
namespace {

using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// Ends a stream before any message of its peer.
class RefusedStream final : public Reactor {
 public:
  explicit RefusedStream(const absl::Status& why) { Finish(transport::ToGrpc(why)); }
  void OnDone() override { delete this; }
};

absl::StatusOr<wire::ParsedMessage> Parse(grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return absl::InvalidArgumentError("not to be decompressed");
  std::string bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  buffer.Clear();
  return wire::ParseAgentMessage(bytes);
}

grpc::ByteBuffer Serialise(const wire::CoordinatorMessage& message) {
  const grpc::Slice slice(wire::ToWire(message).SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

class AgentStream final : public Reactor {
 public:
  AgentStream(AgentService& service, EventQueue& queue, StreamId id,
              grpc::CallbackServerContext* context)
      : service_(service), queue_(queue), id_(id), context_(context) {}

  const std::string& chain() const { return chain_; }

  void ReadNext() {
    const MutexLock lock(mutex_);
    if (!closing_) StartRead(&incoming_);
  }

  void Send(const wire::CoordinatorMessage& message) {
    const MutexLock lock(mutex_);
    if (closing_) return;
    if (waiting_.size() >= kMaxSendQueue) {
      // A peer that does not read cannot be told why its stream ends.
      queue_.Post(
          StreamCutOff{id_, absl::ResourceExhaustedError("it does not read what it is sent")});
      closing_ = true;
      waiting_.clear();
      context_->TryCancel();
      if (!writing_) Finish(grpc::Status::CANCELLED);
      return;
    }
    waiting_.push_back(Serialise(message));
    WriteNext();
  }

  void Close(const absl::Status& status) {
    const MutexLock lock(mutex_);
    if (closing_) return;
    closing_ = true;
    final_status_ = transport::ToGrpc(status);
    closing_since_ = MonotonicTime();
    // Messages that wait are sent before the status.
    if (!writing_) Finish(final_status_);
  }

  void CutOffIfOverdue(absl::Duration now) {
    const MutexLock lock(mutex_);
    if (closing_ && !done_ && now - closing_since_ >= kCloseGrace) context_->TryCancel();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Close(absl::OkStatus());  // the agent has nothing more to say
      return;
    }
    absl::StatusOr<wire::ParsedMessage> message = Parse(incoming_);
    if (absl::IsUnimplemented(message.status())) {
      queue_.Post(MessageSkipped{id_});  // the message is of a newer protocol
      return;
    }
    if (!message.ok()) {
      queue_.Post(MessageMalformed{id_, message.status()});
      return;
    }
    MessageReceived event{.stream = id_,
                          .message = std::move(message->message),
                          .bytes = message->bytes,
                          .memory = message->memory};
    if (!queue_.PostMessage(std::move(event))) {
      const absl::Status why =
          absl::ResourceExhaustedError("too many bytes wait to be looked at; try again later");
      queue_.Post(StreamCutOff{id_, why});
      Close(why);
    }
  }

  void OnWriteDone(bool ok) override {
    const MutexLock lock(mutex_);
    writing_ = false;
    // A failed write ends in a failed read, which closes the stream.
    if (ok) WriteNext();
    if (closing_ && !writing_) Finish(final_status_);
  }

  // While a message waits for the core, no read is in flight that would fail; at the end of the
  // server the core takes no message any more.
  void OnCancel() override { Close(absl::CancelledError("the stream was cancelled")); }

  void OnDone() override {
    {
      const MutexLock lock(mutex_);
      done_ = true;
      closing_ = true;
    }
    service_.Remove(id_);  // destroys this
  }

 private:
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || waiting_.empty()) return;
    writing_ = true;
    outgoing_ = waiting_.front();  // shares the bytes
    waiting_.pop_front();
    StartWrite(&outgoing_);
  }

  AgentService& service_;
  EventQueue& queue_;
  const StreamId id_;
  grpc::CallbackServerContext* const context_;
  // The peer's certificates; empty without TLS.
  const std::string chain_ = transport::PeerChain(*context_->auth_context());
  grpc::ByteBuffer incoming_;  // of the only read in flight

  Mutex mutex_;
  std::deque<grpc::ByteBuffer> waiting_ ABSL_GUARDED_BY(mutex_);
  grpc::ByteBuffer outgoing_ ABSL_GUARDED_BY(mutex_);  // of the only write in flight
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) =
      false;  // Finish was called, or will be when the write is done
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status final_status_ ABSL_GUARDED_BY(mutex_) = grpc::Status::CANCELLED;
  absl::Duration closing_since_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
};

AgentService::~AgentService() = default;

Reactor* AgentService::Refuse(grpc::CallbackServerContext* context, const absl::Status& why) {
  queue_.Post(StreamRefused{.peer = context->peer(), .status = why});
  return new RefusedStream(why);
}

Reactor* AgentService::Attach(grpc::CallbackServerContext* context) {
  const std::vector<std::string> names = transport::PeerNames(*context->auth_context());
  if (!identities_.empty() && !transport::MatchesIdentity(names, identities_)) {
    return Refuse(context, absl::PermissionDeniedError(absl::StrCat(
                               "the certificate is of ", transport::JoinNames(names),
                               ", which the coordinator's --tls-identity does not name")));
  }
  std::shared_ptr<AgentStream> stream;
  StreamId id = 0;
  std::shared_ptr<const transport::PeerChecker> checker;
  {
    const MutexLock lock(mutex_);
    if (streams_.size() >= kMaxStreams) {
      return Refuse(context,
                    absl::ResourceExhaustedError("too many streams; is --coordinator right?"));
    }
    id = next_++;
    stream = std::make_shared<AgentStream>(*this, queue_, id, context);
    streams_[id] = stream;
    checker = checker_;
  }
  queue_.Post(StreamOpened{.stream = id,
                           .peer = context->peer(),
                           .identity = transport::PeerIdentity(*context->auth_context()),
                           .names = names});
  // A stream that came while the others were checked is in the list, or is checked here.
  if (checker != nullptr && !stream->chain().empty()) {
    if (absl::Status status = checker->Check(stream->chain()); !status.ok()) {
      queue_.Post(StreamCutOff{id, status});
      stream->Close(status);
      return stream.get();
    }
  }
  stream->ReadNext();
  return stream.get();
}

std::shared_ptr<AgentStream> AgentService::Find(StreamId stream) {
  const MutexLock lock(mutex_);
  auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second;
}

void AgentService::Remove(StreamId stream) {
  std::shared_ptr<AgentStream> removed;
  {
    const MutexLock lock(mutex_);
    auto found = streams_.find(stream);
    if (found == streams_.end()) return;
    removed = std::move(found->second);
    streams_.erase(found);
  }
  queue_.Post(StreamClosed{stream});
}

void AgentService::Send(StreamId stream, const wire::CoordinatorMessage& message) {
  if (auto found = Find(stream)) found->Send(message);
}

void AgentService::Close(StreamId stream, const absl::Status& status) {
  if (auto found = Find(stream)) found->Close(status);
}

void AgentService::ReadNext(StreamId stream) {
  if (auto found = Find(stream)) found->ReadNext();
}

std::vector<std::pair<StreamId, std::shared_ptr<AgentStream>>> AgentService::Streams() {
  const MutexLock lock(mutex_);
  return {streams_.begin(), streams_.end()};
}

void AgentService::CutOffOverdue(absl::Duration now) {
  for (const auto& [id, stream] : Streams()) stream->CutOffIfOverdue(now);
}

void AgentService::CheckPeers(std::shared_ptr<const transport::PeerChecker> checker) {
  {
    const MutexLock lock(mutex_);
    checker_ = checker;
  }
  for (const auto& [id, stream] : Streams()) {
    if (stream->chain().empty()) continue;
    const absl::Status status = checker->Check(stream->chain());
    if (status.ok()) continue;
    queue_.Post(StreamCutOff{id, status});
    stream->Close(status);
  }
}

size_t AgentService::streams() const {
  const MutexLock lock(mutex_);
  return streams_.size();
}

}  // namespace rapideye::coordinator
