// Reads any bytes as what a host and its platform say of processes, sockets, rights and events:
// values stay within their bounds, whatever the text is taken for. The first byte chooses.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "agent/sources/platform/limits.h"
#include "agent/sources/platform/parse.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/start_up/parse.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using namespace rapideye;         // NOLINT: a fuzz target
using namespace rapideye::agent;  // NOLINT

void TryProcess(absl::string_view text) {
  const auto stat = ParseProcessStat(text);
  if (!stat.ok()) {
    Require(absl::IsInvalidArgument(stat.status()), "a refusal names the field");
    return;
  }
  Require(stat->id.pid > 0 && stat->parent >= 0 && stat->cpu_ticks >= 0, "counts are not negative");
  Require(text.find(stat->command) != absl::string_view::npos, "a command is a part of the line");
  ProcessSample sample;
  SetExit(stat->exit_status, sample);
}

void TryLinks(absl::string_view text) {
  (void)SocketInode(text);
  if (const auto device = ChipDevice(text, "/dev"); device.has_value()) {
    Require(!device->empty() && device->size() <= text.size(), "a device is a part of the link");
  }
  if (const auto name = UserName(text, 1000); name.has_value()) {
    Require(name->find_first_of(":\n") == std::string::npos, "a user's name is one field");
  }
}

void TrySockets(absl::string_view text) {
  // Each inode stands in a line of its own.
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const char* address : {"127.0.0.1:8431", "[::1]:8431"}) {
    const auto endpoint = ParseEndpoint(address);
    Require(endpoint.has_value(), "the address is one");
    Require(ListeningInodes(text, *endpoint).size() <= lines, "a line is one socket");
  }
  Require(ConnectionsTo(text, 8431).size() <= lines, "a line is one connection");
}

void TryRights(absl::string_view text) {
  const auto rights = ParseRights(text);
  if (!rights.has_value()) return;
  Require(MayOpen(*rights, 0600, rights->user, 0) || rights->user != 0 || rights->passes_modes ||
              MayOpen(*rights, 0600, 0, 0),
          "an owner opens its file");
  Require(rights->passes_modes || !MayOpen(*rights, 0600, rights->user + 1, 0),
          "and nobody else does");
}

void CheckEvents(const PlatformEvents& events) {
  Require(events.size() <= kMaxPlatformEvents, "events are bounded");
  for (const PlatformEvent& event : events) {
    Require(event.kind == LogKind::kPreempted || event.kind == LogKind::kHostCrash ||
                event.kind == LogKind::kHostOom || event.kind == LogKind::kHungTask,
            "a platform says nothing of chips");
    Require(event.text.size() <= 2 * kMaxPlatformTextBytes, "a text is bounded");
    Require(std::none_of(event.text.begin(), event.text.end(),
                         [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); }),
            "a text is one line");
    Require(!event.age.has_value() || *event.age >= absl::ZeroDuration(), "no event is to come");
  }
}

void TryPlatform(absl::string_view text) {
  const absl::Time now = absl::FromUnixSeconds(1'790'000'000);
  CheckEvents(ParsePreempted(text));
  CheckEvents(ParseMaintenanceEvent(text));
  for (const auto& events : {ParseUpcomingMaintenance(text, now), ParseNode(text, now),
                             ParseEvents(text, now), ParseSlurmNode(text)}) {
    if (events.ok()) CheckEvents(*events);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  // A digit in the seeds.
  switch (static_cast<unsigned>(data[0] - '0') % 5) {
    case 0:
      TryProcess(text);
      break;
    case 1:
      TryLinks(text);
      break;
    case 2:
      TrySockets(text);
      break;
    case 3:
      TryRights(text);
      break;
    default:
      TryPlatform(text);
  }
  return 0;
}
