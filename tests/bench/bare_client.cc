// Asks the runtime for its status now and then, and does no more: any program that polls
// spends this, so it is the floor of the agent's cost.
//
//   bare-client HOST:PORT INTERVAL_MS
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "v1/runtime_status.grpc.pb.h"

int main(int argc, char** argv) {
  namespace runtime = tpu::monitoring::runtime;
  if (argc != 3) {
    std::fprintf(stderr, "usage: bare-client HOST:PORT INTERVAL_MS\n");
    return 2;
  }
  const std::chrono::milliseconds interval(std::atoll(argv[2]));
  const auto stub = runtime::RuntimeMetricService::NewStub(
      grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()));
  auto next = std::chrono::steady_clock::now();
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
    runtime::GetTpuRuntimeStatusResponse response;
    const grpc::Status status = stub->GetTpuRuntimeStatus(&context, {}, &response);
    if (!status.ok()) {
      std::fprintf(stderr, "bare-client: %s\n", status.error_message().c_str());
      return 1;
    }
    next += interval;
    std::this_thread::sleep_until(next);
  }
}
