#include "proto/transport/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grpcpp/support/server_interceptor.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"
#include "proto/transport/channel_options.h"
#include "proto/transport/pending_connections.h"
#include "proto/transport/served_connections.h"

namespace rapideye::transport {
namespace {

// A job's hosts connect at once after a restart; what does not fit is tried again by the kernel
// of the peer.
constexpr int kBacklog = 4096;
// Pause until descriptors have come back, or pending connections have gone on.
constexpr int kPauseMs = 50;

// While connections are pending, those whose handshake has timed out are let go of this often.
constexpr int kExpiryMs = 1'000;

using PeerName = PendingConnections::Peer;

PeerName NameOf(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {text.data(), ntohs(v4.sin_port)};
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    constexpr size_t kPrefix = 12;
    inet_ntop(AF_INET, v6.sin6_addr.s6_addr + kPrefix, text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  }
  return {text.data(), ntohs(v6.sin6_port)};
}

// The address in gRPC's "ipv4:192.0.2.1:80", "ipv6:%5B2001:db8::1%5D:80".
PeerName NameOf(const std::string& peer) {
  const size_t scheme = peer.find(':');
  const size_t colon = peer.rfind(':');
  uint32_t port = 0;
  if (colon == scheme || colon == std::string::npos ||
      !absl::SimpleAtoi(peer.substr(colon + 1), &port) ||
      port > std::numeric_limits<uint16_t>::max()) {
    return {};
  }
  std::string address = absl::StrReplaceAll(peer.substr(scheme + 1, colon - scheme - 1),
                                            {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
  // A link-local address names its interface.
  address = address.substr(0, address.find('%'));
  return {std::move(address), static_cast<uint16_t>(port)};
}

int DescriptorLimit() {
  rlimit limit = {};
  constexpr rlim_t kMost = std::numeric_limits<int>::max();
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > kMost) {
    return std::numeric_limits<int>::max();
  }
  return static_cast<int>(limit.rlim_cur);
}

// Connections take only descriptors below this, and leave kSpareDescriptors, or a quarter of a low
// limit, to the rest of the process.
int LimitOfConnections() {
  const int limit = DescriptorLimit();
  return limit - std::min(kSpareDescriptors, limit / 4);
}

// Bound of pending connections: each holds two descriptors, and others are to be left for those
// that have made a call.
size_t MostPending() {
  constexpr int kOfTheProcess = 40;  // open before the first connection
  constexpr int kShare = 3;
  return static_cast<size_t>(std::max(1, (LimitOfConnections() - kOfTheProcess) / kShare));
}

// The peer sends nothing more: no client of ours closes its half before its call.
bool HasGone(int connection) {
  pollfd end = {.fd = connection, .events = POLLRDHUP, .revents = 0};
  return poll(&end, 1, /*timeout=*/0) > 0;
}

uint16_t PortOf(int descriptor) {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
  return NameOf(address).second;
}

// The bytes of a call's metadata, as HTTP/2 counts them.
size_t MetadataBytes(const grpc::ServerContextBase& call) {
  constexpr size_t kOfEntry = 32;
  size_t bytes = 0;
  for (const auto& [key, value] : call.client_metadata()) {
    bytes += key.size() + value.size() + kOfEntry;
  }
  return bytes;
}

// Ends the connection with this peer, if the descriptor is still its own. What the peer has sent
// already is dropped: after shutdown(2) gRPC would read it to the end.
void End(int descriptor, const PeerName& peer) {
  const int held = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (held < 0) return;
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  const bool same = getpeername(held, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
                    NameOf(address) == peer;
  const sockaddr nobody = {.sa_family = AF_UNSPEC, .sa_data = {}};
  if (same && connect(held, &nobody, sizeof(nobody)) != 0) shutdown(held, SHUT_RDWR);
  close(held);
}

void SetPort(uint16_t port, sockaddr* address) {
  if (address->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
  }
}

// The descriptor, or -1 and errno.
int Bind(const addrinfo& at) {
  const int descriptor =
      socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol);
  if (descriptor < 0) return -1;
  const int yes = 1;
  const int no = 0;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (at.ai_family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  if (bind(descriptor, at.ai_addr, at.ai_addrlen) == 0 && listen(descriptor, kBacklog) == 0) {
    return descriptor;
  }
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

}  // namespace

struct Acceptor::State {
  ~State() {
    for (const auto& [peer, held] : held_) close(held);
  }

  // Takes note of an accepted connection. If it is refused, the caller closes it; if no descriptors
  // are left for it, it is starved.
  enum class Taken { kYes, kRefused, kStarved };
  Taken Take(int connection, const PeerName& peer) ABSL_LOCKS_EXCLUDED(mutex_) {
    // gRPC closes the connection, and its number is then another's. This duplicate stays ours, to
    // end the connection by. Both end with gRPC's shutdown(2).
    const int held = fcntl(connection, F_DUPFD_CLOEXEC, 0);
    if (held < 0 || held >= LimitOfConnections()) {
      if (held >= 0) close(held);
      return Taken::kStarved;
    }
    const MutexLock lock(mutex_);
    Release(peer);
    const PendingConnections::Admission admission = pending_.Admit(peer, MonotonicTime());
    if (admission.outcome != PendingConnections::Outcome::kAdmitted) {
      close(held);
      return Taken::kRefused;
    }
    if (admission.yields.has_value()) {
      ++refused;
      shutdown(held_.at(*admission.yields), SHUT_RDWR);
      Release(*admission.yields);
    }
    held_[peer] = held;
    served_.Accepted(peer, connection);
    return Taken::kYes;
  }

  // A connection made a call.
  void Arrived(const PeerName& peer, size_t metadata_bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    pending_.Arrived(peer);
    Release(peer);
    const std::optional<int> hostile = served_.Call(peer, metadata_bytes, MonotonicTime());
    if (!hostile.has_value()) return;
    ++refused;
    End(*hostile, peer);
  }

  // False: further connections wait in the kernel.
  bool HasRoom() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    return !pending_.Full(MonotonicTime());
  }

  // Lets go of those whose time is up, or whose peers have gone. False: no connections are pending.
  bool Expire() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    const absl::Duration now = MonotonicTime();
    for (const PeerName& peer : pending_.Expire(now)) Release(peer);
    if (now - swept_ >= absl::Milliseconds(kPauseMs)) {
      swept_ = now;
      std::erase_if(held_, [this](const auto& held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        if (!HasGone(held.second)) return false;
        pending_.Arrived(held.first);
        close(held.second);
        return true;
      });
    }
    return !pending_.empty();
  }

  void NoteStarved() {
    ++refused;
    starved_ns = absl::ToInt64Nanoseconds(MonotonicTime());
  }

  // Hears of each call once, and of none of its messages.
  class Calls final : public grpc::experimental::ServerInterceptorFactoryInterface {
   public:
    explicit Calls(std::shared_ptr<State> state) : state_(std::move(state)) {}
    grpc::experimental::Interceptor* CreateServerInterceptor(
        grpc::experimental::ServerRpcInfo* call) override {
      const grpc::ServerContextBase& context = *call->server_context();
      state_->Arrived(NameOf(context.peer()), MetadataBytes(context));
      return nullptr;
    }

   private:
    const std::shared_ptr<State> state_;
  };

  std::atomic<int64_t> refused = 0;
  std::atomic<int64_t> starved_ns = std::numeric_limits<int64_t>::min();

 private:
  void Release(const PeerName& peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = held_.find(peer);
    if (found == held_.end()) return;
    close(found->second);
    held_.erase(found);
  }

  Mutex mutex_;
  PendingConnections pending_ ABSL_GUARDED_BY(mutex_){absl::Milliseconds(kHandshakeTimeoutMs),
                                                      MostPending()};
  absl::Duration swept_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  std::map<PeerName, int> held_ ABSL_GUARDED_BY(mutex_);  // of those that are pending
  ServedConnections served_ ABSL_GUARDED_BY(mutex_);
};

Acceptor::Acceptor() : state_(std::make_shared<State>()) {}

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(const std::string& address) {
  const size_t colon = address.rfind(':');
  uint32_t port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) ||
      port > std::numeric_limits<uint16_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat(address, " is not ADDRESS:PORT with a port from 0 to 65535"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), absl::StrCat(port).c_str(),
                                &hints, &found);
  if (error != 0) return absl::UnavailableError(absl::StrCat(address, ": ", gai_strerror(error)));
  const absl::Cleanup release = [found] { freeaddrinfo(found); };

  std::unique_ptr<Acceptor> acceptor(new Acceptor());
  int reason = 0;
  for (addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (acceptor->port_ != 0) SetPort(static_cast<uint16_t>(acceptor->port_), at->ai_addr);
    const int descriptor = Bind(*at);
    if (descriptor < 0) {
      if (reason == 0) reason = errno;
      // An address that another process holds is a mistake of the operator; a family that the host
      // lacks is not.
      if (errno == EADDRINUSE) break;
      continue;
    }
    acceptor->listeners_.push_back(descriptor);
    acceptor->port_ = PortOf(descriptor);
  }
  if (acceptor->listeners_.empty() || reason == EADDRINUSE) {
    return absl::UnavailableError(std::generic_category().message(reason));
  }
  acceptor->stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  acceptor->spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (acceptor->stop_ < 0 || acceptor->spare_ < 0) {
    return absl::UnavailableError("no descriptors left");
  }
  return acceptor;
}

Acceptor::~Acceptor() {
  Stop();
  for (const int descriptor : {spare_, stop_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

void Acceptor::AddTo(grpc::ServerBuilder& builder,
                     std::shared_ptr<grpc::ServerCredentials> credentials) {
  using Builder = grpc::ServerBuilder::experimental_type;
  server_ = builder.experimental().AddExternalConnectionAcceptor(
      Builder::ExternalConnectionType::FROM_FD, std::move(credentials));
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> calls;
  calls.push_back(std::make_unique<State::Calls>(state_));
  builder.experimental().SetInterceptorCreators(std::move(calls));
}

void Acceptor::Start() {
  thread_.emplace([this] { Run(); });
}

void Acceptor::Stop() {
  if (thread_.has_value()) {
    eventfd_write(stop_, 1);
    thread_.reset();
  }
  for (const int listener : std::exchange(listeners_, {})) close(listener);
}

absl::Duration Acceptor::SinceStarved() const {
  const int64_t at = state_->starved_ns;
  return at == std::numeric_limits<int64_t>::min() ? absl::InfiniteDuration()
                                                   : MonotonicTime() - absl::Nanoseconds(at);
}

int64_t Acceptor::refused() const { return state_->refused; }

void Acceptor::Run() {
  std::vector<pollfd> waiting = {{stop_, POLLIN, 0}};
  for (const int listener : listeners_) waiting.push_back({listener, POLLIN, 0});
  while (true) {
    const int timeout = state_->Expire() ? kExpiryMs : -1;
    for (pollfd& one : waiting) one.revents = 0;
    poll(waiting.data(), waiting.size(), timeout);
    if (waiting[0].revents != 0) return;
    bool pause = false;
    for (size_t i = 1; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0 && !AcceptOne(waiting[i].fd)) pause = true;
    }
    if (pause && poll(waiting.data(), 1, kPauseMs) > 0) return;
  }
}

bool Acceptor::AcceptOne(int listener) {
  if (!state_->HasRoom()) return false;
  sockaddr_storage peer = {};
  const auto accept_one = [&] {
    socklen_t length = sizeof(peer);
    return accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length,
                   SOCK_CLOEXEC | SOCK_NONBLOCK);
  };
  int connection = accept_one();
  if (connection < 0 && (errno == EMFILE || errno == ENFILE)) {
    state_->NoteStarved();  // known before the peer notices
    // The connection would stay in the kernel's queue, and its peer would wait for ever.
    close(std::exchange(spare_, -1));
    connection = accept_one();
    const bool gone = connection >= 0 && HasGone(connection);
    if (connection >= 0) close(connection);
    spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return gone;
  }
  // The peer has gone, or the network fails for a moment: no reason to end a listener.
  if (connection < 0) return errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
  // After a flood the kernel's queue is full of these, and they are to keep nobody waiting.
  if (HasGone(connection)) {
    close(connection);
    return true;
  }
  // The lowest free number is given out first.
  if (connection >= LimitOfConnections()) {
    state_->NoteStarved();
    close(connection);
    return false;
  }
  const State::Taken taken = state_->Take(connection, NameOf(peer));
  if (taken != State::Taken::kYes) {
    if (taken == State::Taken::kStarved) {
      state_->NoteStarved();
    } else {
      ++state_->refused;
    }
    close(connection);
    return taken == State::Taken::kRefused;
  }
  const int yes = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connected;
  connected.listener_fd = listener;
  connected.fd = connection;
  server_->HandleNewConnection(&connected);
  return true;
}

}  // namespace rapideye::transport
