// A gRPC server that answers GetTpuRuntimeStatus with whatever a test wants.
#ifndef RAPIDEYE_AGENT_SHELL_FAKE_RUNTIME_H_
#define RAPIDEYE_AGENT_SHELL_FAKE_RUNTIME_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::agent {

// Listens on a port of its own until it is destroyed.
class FakeRuntime : public grpc::CallbackGenericService {
 public:
  explicit FakeRuntime(int port = 0) : port_(port) {
    grpc::ServerBuilder builder;
    // Without this a second server would share the port.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(absl::StrCat("127.0.0.1:", port), grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeRuntime() override { Stop(); }

  void Stop() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  int port() const { return port_; }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

  // How often it was asked so far.
  int64_t calls() const { return calls_; }

  // From now on every call gets these bytes, this error, or no answer.
  void AnswerWith(std::string bytes) { Set({Mode::kBytes, std::move(bytes), {}}); }
  void AnswerWith(const tpu::monitoring::runtime::GetTpuRuntimeStatusResponse& response) {
    AnswerWith(response.SerializeAsString());
  }
  void FailWith(grpc::Status status) { Set({Mode::kError, "", std::move(status)}); }
  void Hang() { Set({Mode::kHang, "", {}}); }

 private:
  enum class Mode { kBytes, kError, kHang };
  struct Answer {
    Mode mode = Mode::kBytes;
    std::string bytes;
    grpc::Status status;
  };

  class Call : public grpc::ServerGenericBidiReactor {
   public:
    explicit Call(Answer answer) : answer_(std::move(answer)) { StartRead(&request_); }

    void OnReadDone(bool) override {
      if (answer_.mode == Mode::kError) {
        Finish(answer_.status);
      } else if (answer_.mode == Mode::kBytes) {
        const grpc::Slice slice(answer_.bytes);
        response_ = grpc::ByteBuffer(&slice, 1);
        StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
      }
    }
    void OnCancel() override {
      if (answer_.mode == Mode::kHang) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }

   private:
    const Answer answer_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer response_;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    ++calls_;
    const std::lock_guard lock(mutex_);
    return new Call(answer_);
  }

  void Set(Answer answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }

  int port_ = 0;
  std::atomic<int64_t> calls_ = 0;
  std::mutex mutex_;
  Answer answer_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SHELL_FAKE_RUNTIME_H_
