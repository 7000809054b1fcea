#include "coordinator/cli/doctor/host_facts.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/common/file/network_file_system.h"
#include "proto/common/process/find_program.h"

namespace rapideye::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPtraceScope[] = "/proc/sys/kernel/yama/ptrace_scope";
constexpr char kKernelLog[] = "/dev/kmsg";
std::optional<int> ReadNumber(const char* path) {
  std::ifstream file(path);
  int number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// The line of /proc/self/status is a mask in hexadecimal digits.
bool HasCapability(int capability) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!absl::StartsWith(line, "CapEff:")) continue;
    const uint64_t mask = std::strtoull(line.c_str() + std::strlen("CapEff:"), nullptr, 16);
    return (mask >> capability & 1) != 0;
  }
  return false;
}

std::vector<std::string> FindTools() {
  std::vector<std::string> found;
  for (const char* tool : {"eu-stack", "py-spy"}) {
    if (FindTool(tool, PathVariable()).has_value()) found.emplace_back(tool);
  }
  return found;
}

}  // namespace

HostFacts ReadHostFacts() {
  HostFacts facts;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    facts.descriptors_soft = limit.rlim_cur;
    facts.descriptors_hard = limit.rlim_max;
  }
  timex clock{};
  if (const int state = adjtimex(&clock); state >= 0) {
    facts.clock_synchronised = state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
    facts.clock_error = absl::Microseconds(clock.maxerror);
  }
  facts.ptrace_scope = ReadNumber(kPtraceScope);
  facts.may_trace = HasCapability(CAP_SYS_PTRACE);
  const int log = open(kKernelLog, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (log < 0) {
    facts.kernel_log = std::strerror(errno);
  } else {
    close(log);
  }
  facts.tools = FindTools();
  return facts;
}

DirectoryFacts ReadDirectoryFacts(const std::string& path) {
  DirectoryFacts facts{.path = path};
  std::error_code error;
  fs::path nearest = fs::absolute(path, error);
  facts.there = fs::is_directory(nearest, error);
  if (!facts.there && fs::exists(nearest, error)) {
    facts.problem = "it is no directory";
    return facts;
  }
  while (!fs::exists(nearest, error) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  if (access(nearest.c_str(), W_OK | X_OK) != 0) {
    facts.problem = absl::StrCat(nearest.string(), ": ", std::strerror(errno));
  }
  struct statfs system{};
  if (statfs(nearest.c_str(), &system) == 0) {
    facts.network_type = file::NetworkTypeOf(static_cast<uint32_t>(system.f_type));
    facts.free_bytes = static_cast<int64_t>(system.f_bavail) * system.f_bsize;
  }
  struct stat info{};
  facts.others_may_write =
      facts.there && stat(nearest.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0;
  return facts;
}

PeerFacts TryPeer(const std::string& host, const std::string& port, absl::Duration patience) {
  PeerFacts facts{.peer = absl::StrCat(host, ":", port)};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    facts.answer = PeerFacts::Answer::kUnknownName;
    facts.detail = gai_strerror(error);
    return facts;
  }
  const absl::Cleanup free_addresses = [found] { freeaddrinfo(found); };
  const int connection =
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, /*protocol=*/0);
  if (connection < 0) {
    facts.detail = std::strerror(errno);
    return facts;
  }
  const absl::Cleanup close_connection = [connection] { close(connection); };
  int error = connect(connection, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waiting = {connection, POLLOUT, 0};
    if (poll(&waiting, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) <= 0) {
      facts.answer = PeerFacts::Answer::kSilent;
      facts.detail = absl::FormatDuration(patience);
      return facts;
    }
    socklen_t size = sizeof(error);
    getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  facts.answer = error == 0              ? PeerFacts::Answer::kConnected
                 : error == ECONNREFUSED ? PeerFacts::Answer::kRefused
                 : error == ETIMEDOUT    ? PeerFacts::Answer::kSilent
                                         : PeerFacts::Answer::kUnreachable;
  if (error != 0) facts.detail = std::strerror(error);
  return facts;
}

}  // namespace rapideye::cli
