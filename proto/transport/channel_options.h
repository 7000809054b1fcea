// Sets the options of gRPC channels and servers, with reasons, in one place.
#ifndef RAPIDEYE_PROTO_TRANSPORT_CHANNEL_OPTIONS_H_
#define RAPIDEYE_PROTO_TRANSPORT_CHANNEL_OPTIONS_H_

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <cstddef>
#include <cstdint>

namespace rapideye::transport {

// Largest message a coordinator accepts, and an agent from its runtime: a snapshot
// of one worker.
inline constexpr int kMaxMessageBytes = 8 * 1024 * 1024;
// Largest message an agent accepts from its coordinator: commands are a few
// numbers and a name. Unknown fields stay in memory, at twenty times their size, until
// the agent has looked at them.
inline constexpr int kMaxCommandBytes = 64 * 1024;
// Bytes of gRPC's own buffers of one server. The limit throttles senders rather than capping
// memory; objects built from their messages are bounded elsewhere.
inline constexpr size_t kServerBufferBytes = size_t{512} << 20;
// gRPC looks at all that one read brought before it hands out the first call, and unpacks headers
// to two thousand times their size: less at a time than its 4 MiB.
inline constexpr int kMaxReadBytes = 64 * 1024;
// A TLS handshake takes milliseconds; an unfinished one holds a descriptor.
inline constexpr int kHandshakeTimeoutMs = 10'000;
// A connection without any call is closed after this. The age of a connection has no
// limit: a stream that is cut while the job hangs is a worker that is missing.
inline constexpr int kIdleConnectionMs = 60'000;

// A half-open connection (host gone, cable pulled) is found after time + timeout:
// well before a hang's thresholds, so that its worker counts as missing in time.
// Keepalive proves that a process lives, never that training progresses.
inline constexpr int kKeepaliveTimeMs = 10'000;
inline constexpr int kKeepaliveTimeoutMs = 10'000;
// The server answers pings more frequent than this with ENHANCE_YOUR_CALM: well
// below what our clients send, so that a late ping followed by a punctual one is
// not taken for abuse.
inline constexpr int kMinPingIntervalMs = 2'000;

// gRPC's own pause between attempts grows to two minutes; the agent paces its
// attempts itself, with jitter, and needs gRPC to follow.
inline constexpr int kInitialReconnectMs = 200;
inline constexpr int kMaxReconnectMs = 5'000;
// A runtime is on this host: one that starts is to be noticed within a second.
inline constexpr int kMaxRuntimeReconnectMs = 1'000;
// The time limit of an attempt to connect to a runtime: none in practice. A stopped
// process still accepts connections, by its kernel, and then says nothing. Were
// the attempt given up, calls would fail with UNAVAILABLE instead of
// DEADLINE_EXCEEDED.
inline constexpr int kRuntimeConnectMs = 24 * 3600 * 1000;

// An agent has one stream, and operators' commands a few calls; more on one
// connection is no client of ours.
inline constexpr int kMaxStreamsPerConnection = 32;
// Streams and metadata of a connection whose peer has not acknowledged gRPC's limits (32 streams,
// 8 KiB). Above these, as an equal one would not be announced.
inline constexpr uint32_t kUnannouncedStreams = 2 * kMaxStreamsPerConnection;
inline constexpr uint32_t kUnannouncedMetadataBytes = 32 * 1024;

// Agent to coordinator: keepalive finds half-open connections.
grpc::ChannelArguments AgentChannelArguments();
// Operators' commands to coordinator: the same, for answers as large as a message
// may be.
grpc::ChannelArguments OperatorChannelArguments();
// Agent to the TPU runtime on the same host: no keepalive. With it a stopped
// runtime turns from DEADLINE_EXCEEDED into UNAVAILABLE, and that difference is
// evidence.
grpc::ChannelArguments RuntimeChannelArguments();
// The coordinator's server: keepalive, minimum ping interval, message size; a
// port that another process listens on is an error.
void ConfigureServer(grpc::ServerBuilder& builder);

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_CHANNEL_OPTIONS_H_
