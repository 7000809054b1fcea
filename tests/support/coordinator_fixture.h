// For tests: runs a coordinator on a free port of this host, and agents for it.
#ifndef RAPIDEYE_TESTS_SUPPORT_COORDINATOR_FIXTURE_H_
#define RAPIDEYE_TESTS_SUPPORT_COORDINATOR_FIXTURE_H_

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "coordinator/daemon/coordinator.h"
#include "v1/agent.grpc.pb.h"

namespace rapideye::coordinator {

inline v1::AgentMessage HelloMessage(int task, int64_t incarnation = 10) {
  v1::AgentMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_protocol_version(1);
  hello.set_job("job");
  hello.mutable_worker()->set_slice(0);
  hello.mutable_worker()->set_task(task);
  hello.set_host("host-" + std::to_string(task));
  hello.set_agent_incarnation(incarnation);
  hello.set_poll_interval_ms(1000);
  return message;
}

// Message of a worker whose runtime does not answer.
inline v1::AgentMessage SnapshotMessage(int task, int64_t collection) {
  v1::AgentMessage reply;
  reply.mutable_snapshot()->set_collection(collection);
  v1::Snapshot& snapshot = *reply.mutable_snapshot()->mutable_snapshot();
  snapshot.mutable_worker()->set_slice(0);
  snapshot.mutable_worker()->set_task(task);
  snapshot.set_host("host-" + std::to_string(task));
  snapshot.mutable_runtime()->set_state(v1::RuntimeHealth::UNAVAILABLE);
  return reply;
}

// An agent written by hand: one stream, read and written synchronously.
class Client {
 public:
  explicit Client(const std::string& address)
      : stub_(v1::Rendezvous::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        stream_(stub_->Attach(&context_)) {}

  bool Write(const v1::AgentMessage& message) { return stream_->Write(message); }
  // The next message; an empty one if the stream has ended.
  v1::CoordinatorMessage Read() {
    v1::CoordinatorMessage message;
    if (!stream_->Read(&message)) return {};
    return message;
  }
  // Reads what is left, and how it ended.
  grpc::Status End() {
    v1::CoordinatorMessage message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }
  grpc::Status HangUp() {
    stream_->WritesDone();
    return End();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Rendezvous::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>> stream_;
};

// A coordinator of a job of one worker, with a state directory of its own.
class RunningCoordinator {
 public:
  explicit RunningCoordinator(const std::function<void(CoordinatorSettings&)>& adjust =
                                  [](CoordinatorSettings&) {}) {
    std::string pattern = std::filesystem::temp_directory_path() / "rapideye-coordinator-XXXXXX";
    root_ = mkdtemp(pattern.data());
    CoordinatorSettings settings;
    settings.listen = "127.0.0.1:0";
    settings.state_dir = root_;
    settings.http = "127.0.0.1:0";
    settings.http_required = true;
    settings.core.shape = {.job = "job", .slices = 1, .tasks_per_slice = 1};
    settings.log_digest = [this](const std::string& id, const std::string& text, const auto&) {
      digest_.set_value({id, text});
    };
    adjust(settings);
    coordinator_ = Coordinator::Start(std::move(settings)).value();
    runner_ = std::thread([this] { coordinator_->Run(); });
  }
  ~RunningCoordinator() {
    Destroy();  // it writes until then
    std::filesystem::remove_all(root_);
  }

  void Stop() {
    if (!runner_.joinable()) return;
    coordinator_->RequestStop();
    runner_.join();
  }

  void Destroy() {
    Stop();
    coordinator_.reset();
  }

  std::string http_address() const { return coordinator_->http_address(); }
  const std::string& address() const { return coordinator_->address(); }
  const std::string& state_dir() const { return root_; }
  // Id and text of the first incident, once it is told. Call once.
  std::pair<std::string, std::string> Digest() { return digest_.get_future().get(); }

 protected:
  std::string root_;
  std::promise<std::pair<std::string, std::string>> digest_;  // id and text

 private:
  std::unique_ptr<Coordinator> coordinator_;
  std::thread runner_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_TESTS_SUPPORT_COORDINATOR_FIXTURE_H_
