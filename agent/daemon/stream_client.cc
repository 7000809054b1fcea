#include "agent/daemon/stream_client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/async_stream.h>

#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/core/limits.h"
#include "agent/daemon/redaction.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"
#include "proto/transport/channel_options.h"
#include "v1/agent.grpc.pb.h"
#include "v1/agent.pb.h"

namespace rapideye::agent {

// One stream. The object keeps itself alive from Start until gRPC is done with it.
class StreamClient::Stream {
 public:
  Stream(int64_t number, const std::shared_ptr<grpc::Channel>& channel, Sink sink)
      : number_(number), stub_(v1::Rendezvous::NewStub(channel)), sink_(std::move(sink)) {}

  void Start(std::shared_ptr<Stream> self, grpc::CompletionQueue& queue);
  void Send(v1::AgentMessage message);
  void ReadNext();
  void Close();

  int64_t number() const { return number_; }
  void Cancel();

  // False: the stream is still there after `patience`.
  bool AwaitDone(absl::Duration patience);

  void AwaitDone() { AwaitDone(absl::InfiniteDuration()); }

  // Completes an operation of the stream; `tag` is its tag from the completion queue.
  static void Done(void* tag, bool ok);

 private:
  struct Step {
    Stream* stream;
    void (Stream::*done)(bool ok);
  };

  void OnStarted(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool);

  // gRPC no longer holds a pointer to this stream.
  void Conclude();
  bool ReplaceWaitingHeartbeat(v1::AgentMessage& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // One write at a time: a second one would abort the process.
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // One read at a time, for the same reason.
  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Cuts the stream; the core gets `why`, unless the stream was over before.
  void Fail(absl::Status why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // After this the stream only asks gRPC how it ended, once no read is under way.
  void End() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t number_;
  const std::unique_ptr<v1::Rendezvous::Stub> stub_;
  const Sink sink_;
  grpc::ClientContext context_;
  v1::CoordinatorMessage incoming_;
  Step started_ = {this, &Stream::OnStarted};
  Step read_ = {this, &Stream::OnRead};
  Step written_ = {this, &Stream::OnWritten};
  Step finish_ = {this, &Stream::OnFinished};

  Mutex mutex_;
  ConditionVariable done_changed_;
  std::shared_ptr<Stream> self_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::ClientAsyncReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>> call_
      ABSL_GUARDED_BY(mutex_);
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::AgentMessage> outgoing_ ABSL_GUARDED_BY(mutex_);
  v1::AgentMessage current_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> failure_ ABSL_GUARDED_BY(mutex_);
  bool reading_ ABSL_GUARDED_BY(mutex_) = true;  // or not started yet, like the next
  bool writing_ ABSL_GUARDED_BY(mutex_) = true;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool writes_done_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
};

void StreamClient::Stream::Start(std::shared_ptr<Stream> self, grpc::CompletionQueue& queue) {
  const MutexLock lock(mutex_);
  self_ = std::move(self);
  call_ = stub_->PrepareAsyncAttach(&context_, &queue);
  call_->StartCall(&started_);
}

void StreamClient::Stream::Send(v1::AgentMessage message) {
  const MutexLock lock(mutex_);
  if (ended_ || closing_) return;
  if (message.has_heartbeat() && ReplaceWaitingHeartbeat(message)) return;
  if (outgoing_.size() >= kMaxOutgoingMessages) {
    Fail(absl::ResourceExhaustedError("the coordinator does not read what it is sent"));
    return;
  }
  outgoing_.push_back(std::move(message));
  WriteNext();
}

void StreamClient::Stream::ReadNext() {
  const MutexLock lock(mutex_);
  Read();
}

void StreamClient::Stream::Close() {
  const MutexLock lock(mutex_);
  if (ended_ || closing_) return;
  closing_ = true;
  // Only a read shows the end of the stream.
  Read();
  WriteNext();
}

void StreamClient::Stream::Cancel() {
  const MutexLock lock(mutex_);
  Fail(absl::CancelledError("the agent gave the stream up"));
}

bool StreamClient::Stream::AwaitDone(absl::Duration patience) {
  const absl::Duration deadline = MonotonicTime() + patience;
  const MutexLock lock(mutex_);
  while (!done_ && done_changed_.WaitUntil(mutex_, deadline)) {
  }
  return done_;
}

void StreamClient::Stream::Done(void* tag, bool ok) {
  const Step& step = *static_cast<Step*>(tag);
  (step.stream->*step.done)(ok);
}

void StreamClient::Stream::OnStarted(bool ok) {
  const MutexLock lock(mutex_);
  reading_ = writing_ = false;
  if (!ok || ended_) {
    End();
    return;
  }
  Read();
  WriteNext();
}

void StreamClient::Stream::OnRead(bool ok) {
  absl::StatusOr<wire::CoordinatorMessage> message = absl::UnimplementedError("not read");
  if (ok) message = wire::CoordinatorMessageFromWire(incoming_);
  {
    const MutexLock lock(mutex_);
    reading_ = false;
    if (!ok || ended_) {
      End();
      return;
    }
    // A message of a newer protocol, or one that comes too late, is not for this agent.
    if (closing_ || absl::IsUnimplemented(message.status())) {
      Read();
      return;
    }
    if (!message.ok()) {
      Fail(absl::InternalError(
          absl::StrCat("the coordinator sent what it must not: ", message.status().message())));
      return;
    }
  }
  sink_(MessageReceived{number_, *std::move(message)});
}

void StreamClient::Stream::OnWritten(bool ok) {
  {
    const MutexLock lock(mutex_);
    writing_ = false;
    // The reason of a failed write comes with the end of the stream.
    if (ok && !ended_) WriteNext();
    if (!finished_) return;
  }
  Conclude();
}

void StreamClient::Stream::OnFinished(bool) {
  {
    const MutexLock lock(mutex_);
    finished_ = true;
    if (writing_) return;
  }
  Conclude();
}

void StreamClient::Stream::Conclude() {
  std::shared_ptr<Stream> self;  // destroyed after the lock is released
  MutexLock lock(mutex_);
  absl::Status result(static_cast<absl::StatusCode>(status_.error_code()), status_.error_message());
  if (failure_.has_value()) result = *failure_;
  self = std::move(self_);
  lock.Unlock();
  sink_(StreamClosed{number_, std::move(result)});
  lock.Lock();
  done_ = true;
  done_changed_.NotifyAll();
}

bool StreamClient::Stream::ReplaceWaitingHeartbeat(v1::AgentMessage& message) {
  for (v1::AgentMessage& waiting : outgoing_) {
    if (!waiting.has_heartbeat()) continue;
    waiting = std::move(message);
    return true;
  }
  return false;
}

void StreamClient::Stream::WriteNext() {
  if (writing_ || ended_) return;
  if (!outgoing_.empty()) {
    writing_ = true;
    current_ = std::move(outgoing_.front());
    outgoing_.pop_front();
    call_->Write(current_, &written_);
  } else if (closing_ && !writes_done_) {
    writing_ = writes_done_ = true;
    call_->WritesDone(&written_);
  }
}

void StreamClient::Stream::Read() {
  if (reading_ || ended_) return;
  reading_ = true;
  call_->Read(&incoming_, &read_);
}

void StreamClient::Stream::Fail(absl::Status why) {
  if (ended_) return;
  failure_ = std::move(why);
  context_.TryCancel();
  End();
}

void StreamClient::Stream::End() {
  ended_ = true;
  outgoing_.clear();
  if (reading_ || std::exchange(finishing_, true)) return;
  call_->Finish(&status_, &finish_);
}

StreamClient::StreamClient(std::string address,
                           std::shared_ptr<grpc::ChannelCredentials> credentials,
                           secrets::Redactor redactor, Sink sink)
    : address_(std::move(address)),
      credentials_(std::move(credentials)),
      redactor_(std::move(redactor)),
      sink_(std::move(sink)),
      thread_([this] { Run(); }) {}

StreamClient::~StreamClient() {
  if (stream_ != nullptr) {
    stream_->Cancel();
    stream_->AwaitDone();
  }
  queue_.Shutdown();
  thread_.Join();
}

void StreamClient::Run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) Stream::Done(tag, ok);
}

void StreamClient::Connect(int64_t stream) {
  if (stream_ != nullptr) {
    stream_->Cancel();
    stream_->AwaitDone();
  }
  stream_ = std::make_shared<Stream>(
      stream, grpc::CreateCustomChannel(address_, credentials_, transport::AgentChannelArguments()),
      sink_);
  stream_->Start(stream_, queue_);
}

void StreamClient::Send(const wire::AgentMessage& message) {
  if (stream_ == nullptr) return;
  v1::AgentMessage outgoing = wire::ToWire(message);
  RedactMessage(redactor_, outgoing);
  stream_->Send(std::move(outgoing));
}

void StreamClient::ReadNext(int64_t stream) {
  if (stream_ != nullptr && stream_->number() == stream) stream_->ReadNext();
}

void StreamClient::Close() {
  if (stream_ != nullptr) stream_->Close();
}

void StreamClient::AwaitEnd(absl::Duration patience) {
  if (stream_ != nullptr) stream_->AwaitDone(patience);
}

}  // namespace rapideye::agent
