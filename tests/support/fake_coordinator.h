// FakeCoordinator is the coordinator's end of the stream; a test controls it.
#ifndef RAPIDEYE_TESTS_SUPPORT_FAKE_COORDINATOR_H_
#define RAPIDEYE_TESTS_SUPPORT_FAKE_COORDINATOR_H_

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "v1/agent.grpc.pb.h"

namespace rapideye::agent {

class FakeCoordinator : public v1::Rendezvous::Service {
 public:
  using Stream = grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::AgentMessage>;

  FakeCoordinator() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address_ = absl::StrCat("127.0.0.1:", port);
  }
  ~FakeCoordinator() override { server_->Shutdown(std::chrono::system_clock::now()); }

  const std::string& address() const { return address_; }

  // Waits for the first message that `matches`, dropping those before it.
  // Nothing after half a minute.
  std::optional<v1::AgentMessage> Await(
      const std::function<bool(const v1::AgentMessage&)>& matches) {
    std::unique_lock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (true) {
      if (!changed_.wait_until(lock, deadline, [this] { return !received_.empty(); })) {
        return std::nullopt;
      }
      v1::AgentMessage message = std::move(received_.front());
      received_.pop_front();
      if (matches(message)) return message;
    }
  }

  // Waits for an agent's Hello and welcomes it.
  bool Welcome() {
    if (!Await([](const v1::AgentMessage& m) { return m.has_hello(); })) return false;
    v1::CoordinatorMessage message;
    message.mutable_welcome()->set_protocol_version(1);
    message.mutable_welcome()->set_job_incarnation("1");
    message.mutable_welcome()->set_heartbeat_interval_ms(60'000);
    message.mutable_welcome()->set_attention_after_ms(60'000);
    return Send(message);
  }

  bool Send(const v1::CoordinatorMessage& message) {
    const std::lock_guard lock(mutex_);
    return stream_ != nullptr && stream_->Write(message);
  }

  // Ends the present stream.
  void HangUp() {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

 private:
  grpc::Status Attach(grpc::ServerContext* context, Stream* stream) override {
    {
      const std::lock_guard lock(mutex_);
      context_ = context;
      stream_ = stream;
    }
    v1::AgentMessage message;
    while (stream->Read(&message)) {
      const std::lock_guard lock(mutex_);
      received_.push_back(std::move(message));
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    if (stream_ == stream) {
      context_ = nullptr;
      stream_ = nullptr;
    }
    return grpc::Status::OK;
  }

  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::AgentMessage> received_;
  grpc::ServerContext* context_ = nullptr;
  Stream* stream_ = nullptr;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_TESTS_SUPPORT_FAKE_COORDINATOR_H_
