#include "proto/transport/channel_options.h"

#include <grpc/impl/codegen/compression_types.h>
#include <grpcpp/resource_quota.h>

namespace rapideye::transport {
namespace {

// `connect_ms`: how long one attempt to connect may take, which gRPC calls the
// minimum reconnect backoff.
grpc::ChannelArguments CommonArguments(int connect_ms, int max_reconnect_ms) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // Peers are on the same host or in the same job: a proxy from the environment
  // is meant for others.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Each channel has a connection of its own, whatever else the process talks to.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kInitialReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, connect_ms);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, max_reconnect_ms);
  return arguments;
}

// The algorithms by which a peer may compress, as a set of bits: none. gRPC decompresses a message
// before it checks the size, and a thousand times as much may come out.
constexpr int kNoCompression = 1 << GRPC_COMPRESS_NONE;

// Options of a channel to a coordinator.
grpc::ChannelArguments KeptAliveArguments() {
  grpc::ChannelArguments arguments = CommonArguments(kMaxReconnectMs, kMaxReconnectMs);
  arguments.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, kNoCompression);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Without this a client that has nothing to send stops after two pings.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return arguments;
}

// Messages are small, or come from this host: measuring how much is on its way, as gRPC does with
// a ping and timers at each answer, would be a good part of a poll's cost.
void MeasureNoBandwidth(grpc::ChannelArguments& arguments) {
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
}

}  // namespace

grpc::ChannelArguments AgentChannelArguments() {
  grpc::ChannelArguments arguments = KeptAliveArguments();
  arguments.SetMaxReceiveMessageSize(kMaxCommandBytes);
  MeasureNoBandwidth(arguments);
  return arguments;
}

grpc::ChannelArguments OperatorChannelArguments() { return KeptAliveArguments(); }

grpc::ChannelArguments RuntimeChannelArguments() {
  grpc::ChannelArguments arguments = CommonArguments(kRuntimeConnectMs, kMaxRuntimeReconnectMs);
  MeasureNoBandwidth(arguments);
  return arguments;
}

void ConfigureServer(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMaxReadBytes);
  // Two coordinators on one port would each get half of the agents.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleConnectionMs);
  grpc::ResourceQuota quota("coordinator");
  quota.Resize(kServerBufferBytes);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
}

}  // namespace rapideye::transport
