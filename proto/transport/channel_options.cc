#include "proto/transport/channel_options.h"

#include <grpc/impl/codegen/compression_types.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/version_info.h>

#include <cstdint>

// gRPC keeps to a limit of its own settings only once the peer has acknowledged it, and until then
// to the value that HTTP/2 begins with: streams without end, and 16 MiB of metadata in each, which
// take gigabytes. It reads those values from a table of its library. The dynamic linker prefers the
// table of the program: this one, with the same layout and values but for the two limits.
// Later versions of gRPC have no such table, or another layout.
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR == 51
struct grpc_chttp2_setting_parameters {
  const char* name;
  uint32_t default_value;  // a setting that is equal to this is not announced to the peer
  uint32_t min_value;
  uint32_t max_value;
  int32_t clamps;       // 0: a value out of range is cut; 1: it ends the connection
  uint32_t error_code;  // of HTTP/2
};
extern const grpc_chttp2_setting_parameters grpc_chttp2_settings_parameters[7];
const grpc_chttp2_setting_parameters grpc_chttp2_settings_parameters[7] = {
    {"HEADER_TABLE_SIZE", 4096, 0, UINT32_MAX, 0, 1},
    {"ENABLE_PUSH", 1, 0, 1, 1, 1},
    {"MAX_CONCURRENT_STREAMS", rapideye::transport::kUnannouncedStreams, 0, UINT32_MAX, 1, 1},
    {"INITIAL_WINDOW_SIZE", 65535, 0, INT32_MAX, 1, 3},
    {"MAX_FRAME_SIZE", 16384, 16384, (1U << 24) - 1, 1, 1},
    {"MAX_HEADER_LIST_SIZE", rapideye::transport::kUnannouncedMetadataBytes, 0, 1U << 24, 0, 1},
    {"GRPC_ALLOW_TRUE_BINARY_METADATA", 0, 0, 1, 0, 1},
};
#endif

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
