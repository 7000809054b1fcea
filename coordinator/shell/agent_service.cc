#include "coordinator/shell/agent_service.h"

#include <spdlog/spdlog.h>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/limits.h"
#include "proto/transport/status_conversion.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {
namespace {

using Reactor = grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>;

// Ends a stream that there is no room for.
class RefusedStream final : public Reactor {
 public:
  RefusedStream() {
    Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many streams; is --coordinator right?"});
  }
  void OnDone() override { delete this; }
};

}  // namespace

class AgentStream final : public Reactor {
 public:
  AgentStream(AgentService& service, EventQueue& queue, StreamId id,
              grpc::CallbackServerContext* context)
      : service_(service), queue_(queue), id_(id), context_(context) {}

  void ReadNext() {
    const std::lock_guard lock(mutex_);
    if (!closing_) StartRead(&incoming_);
  }

  void Send(const wire::CoordinatorMessage& message) {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    if (waiting_.size() >= kMaxSendQueue) {
      // Nothing can be said to a peer that does not read.
      spdlog::warn("cut off the stream at {}: it does not read what it is sent", context_->peer());
      closing_ = true;
      context_->TryCancel();
      if (!writing_) Finish(grpc::Status::CANCELLED);
      return;
    }
    waiting_.push_back(wire::ToWire(message));
    WriteNext();
  }

  void Close(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    closing_ = true;
    waiting_.clear();
    final_status_ = transport::ToGrpc(status);
    closing_since_ = CurrentTime().monotonic;
    // A write in flight comes first.
    if (!writing_) Finish(final_status_);
  }

  void CutOffIfOverdue(absl::Duration now) {
    const std::lock_guard lock(mutex_);
    if (closing_ && !done_ && now - closing_since_ >= kCloseGrace) context_->TryCancel();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Close(absl::OkStatus());  // the agent has nothing more to say
      return;
    }
    absl::StatusOr<wire::AgentMessage> message = wire::AgentMessageFromWire(incoming_);
    if (absl::IsUnimplemented(message.status())) {
      ReadNext();  // of a newer protocol
      return;
    }
    if (!message.ok()) {
      queue_.Post(MessageMalformed{id_, message.status()});
      return;
    }
    MessageReceived event{.stream = id_,
                          .message = *std::move(message),
                          .bytes = static_cast<int64_t>(incoming_.ByteSizeLong())};
    if (!queue_.PostMessage(std::move(event))) {
      spdlog::warn("closed the stream at {}: too many bytes wait to be looked at",
                   context_->peer());
      Close(absl::ResourceExhaustedError("too many bytes wait to be looked at; try again later"));
    }
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (closing_) {
      Finish(final_status_);
      return;
    }
    waiting_.pop_front();
    // A failed write ends in a failed read, which closes the stream.
    if (ok) WriteNext();
  }

  // While a message waits for the core no read is in flight that would fail; at the
  // end of the server nobody takes it any more.
  void OnCancel() override { Close(absl::CancelledError("the stream was cancelled")); }

  void OnDone() override {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
      closing_ = true;
    }
    service_.Remove(id_);  // destroys this
  }

 private:
  void WriteNext() {
    if (writing_ || waiting_.empty()) return;
    writing_ = true;
    outgoing_ = waiting_.front();
    StartWrite(&outgoing_);
  }

  AgentService& service_;
  EventQueue& queue_;
  const StreamId id_;
  grpc::CallbackServerContext* const context_;
  v1::AgentMessage incoming_;  // of the one read in flight

  std::mutex mutex_;  // guards all below
  std::deque<v1::CoordinatorMessage> waiting_;
  v1::CoordinatorMessage outgoing_;  // of the one write in flight
  bool writing_ = false;
  bool closing_ = false;  // Finish was called, or will be when the write is done
  bool done_ = false;
  grpc::Status final_status_ = grpc::Status::CANCELLED;
  absl::Duration closing_since_ = -absl::InfiniteDuration();
};

AgentService::~AgentService() = default;

Reactor* AgentService::Attach(grpc::CallbackServerContext* context) {
  std::shared_ptr<AgentStream> stream;
  StreamId id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (streams_.size() >= kMaxStreams) return new RefusedStream;
    id = next_++;
    stream = std::make_shared<AgentStream>(*this, queue_, id, context);
    streams_[id] = stream;
  }
  queue_.Post(StreamOpened{.stream = id, .peer = context->peer()});
  stream->ReadNext();
  return stream.get();
}

std::shared_ptr<AgentStream> AgentService::Find(StreamId stream) {
  const std::lock_guard lock(mutex_);
  auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second;
}

void AgentService::Remove(StreamId stream) {
  std::shared_ptr<AgentStream> removed;
  {
    const std::lock_guard lock(mutex_);
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

void AgentService::CutOffOverdue(absl::Duration now) {
  std::vector<std::shared_ptr<AgentStream>> streams;
  {
    const std::lock_guard lock(mutex_);
    streams.reserve(streams_.size());
    for (const auto& [id, stream] : streams_) streams.push_back(stream);
  }
  for (const auto& stream : streams) stream->CutOffIfOverdue(now);
}

size_t AgentService::streams() const {
  const std::lock_guard lock(mutex_);
  return streams_.size();
}

}  // namespace rapideye::coordinator
