// Peers maps addresses to workers as the operator states them (--peer).
#ifndef RAPIDEYE_AGENT_SOURCES_TCP_PEERS_H_
#define RAPIDEYE_AGENT_SOURCES_TCP_PEERS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/common/address/address.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

class Peers {
 public:
  // `peers`: SLICE/TASK=ADDRESS each; a worker with several NICs has several.
  // `address_template`: an IPv4 address with {slice} and {task} in place of some
  // of its numbers, for clusters whose addresses are computed; may be empty.
  // INVALID_ARGUMENT names the malformed text and what is wrong with it.
  static absl::StatusOr<Peers> Parse(const std::vector<std::string>& peers,
                                     const std::string& address_template);

  std::optional<WorkerId> WorkerOfAddress(const IpAddress& address) const;

 private:
  std::map<IpAddress, WorkerId> workers_;
  std::vector<std::string> template_;  // its four parts
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_TCP_PEERS_H_
