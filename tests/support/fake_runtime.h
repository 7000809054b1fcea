// FakeRuntime is a gRPC server that answers GetTpuRuntimeStatus as a test demands.
#ifndef RAPIDEYE_TESTS_SUPPORT_FAKE_RUNTIME_H_
#define RAPIDEYE_TESTS_SUPPORT_FAKE_RUNTIME_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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

// A port of 127.0.0.1 that no other process gets, whether or not a server listens there.
class ReservedPort {
 public:
  ReservedPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    // A server of this process may listen there all the same.
    const int yes = 1;
    setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~ReservedPort() { close(socket_); }
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  int port() const { return port_; }

 private:
  const int socket_;
  int port_ = 0;
};

// Listens on a port of its own, which stays its own while it is stopped.
class FakeRuntime : public grpc::CallbackGenericService {
 public:
  // A second one may take over the port of one that has stopped.
  explicit FakeRuntime(std::shared_ptr<const ReservedPort> port = std::make_shared<ReservedPort>())
      : port_(std::move(port)) {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 1);
    builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeRuntime() override { Stop(); }

  void Stop() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  const std::shared_ptr<const ReservedPort>& port() const { return port_; }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_->port()); }

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

  const std::shared_ptr<const ReservedPort> port_;
  std::atomic<int64_t> calls_ = 0;
  std::mutex mutex_;
  Answer answer_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_TESTS_SUPPORT_FAKE_RUNTIME_H_
