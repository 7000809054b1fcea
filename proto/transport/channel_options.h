// Settings of channels and servers, with reasons, in one place.
#ifndef RAPIDEYE_PROTO_TRANSPORT_CHANNEL_OPTIONS_H_
#define RAPIDEYE_PROTO_TRANSPORT_CHANNEL_OPTIONS_H_

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

namespace rapideye::transport {

// Largest message either side accepts: a snapshot of one worker.
inline constexpr int kMaxMessageBytes = 8 * 1024 * 1024;

// Agent to coordinator: keepalive finds half-open connections.
grpc::ChannelArguments AgentChannelArguments();
// Agent to the TPU runtime on the same host: no keepalive. With it a stopped
// runtime turns from DEADLINE_EXCEEDED into UNAVAILABLE, and that difference is
// evidence.
grpc::ChannelArguments RuntimeChannelArguments();
// The coordinator's server: keepalive, minimum ping interval, message size.
void ConfigureServer(grpc::ServerBuilder& builder);

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_CHANNEL_OPTIONS_H_
