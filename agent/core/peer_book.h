// PeerBook maps addresses to workers, as far as the coordinator knows them.
#ifndef RAPIDEYE_AGENT_CORE_PEER_BOOK_H_
#define RAPIDEYE_AGENT_CORE_PEER_BOOK_H_

#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "agent/sources/tcp/state.h"
#include "proto/common/address/address.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// A connection of the training process shows an address; only the coordinator knows the
// worker behind it. The agent asks the coordinator in health, so that no request is needed
// during a hang, and rarely, because addresses hardly ever move.
class PeerBook {
 public:
  // Moves connections to known workers from the strangers to the sockets, and drops those to
  // `self`; Ask requests the addresses of the remaining strangers.
  void Resolve(const WorkerId& self, absl::Duration now, SocketReading& reading);

  // Requests the addresses that are due; call while the stream is welcome.
  void Ask(absl::Duration now, Effects& effects);
  // Takes the workers behind requested addresses; ignores other addresses.
  void Learn(const wire::Peers& peers);
  // The stream has ended: questions that are out stay without an answer.
  void Disconnected() { asked_.clear(); }

 private:
  struct Entry {
    std::optional<WorkerId> worker;
    absl::Duration ask_at;
    absl::Duration spacing;
    absl::Duration seen_at;
  };

  // The entry for this address, new if need be; null: there is no room for it.
  Entry* Find(const IpAddress& address, absl::Duration now);

  std::map<IpAddress, Entry> entries_;
  // The time of the last reading that filled the whole book by itself.
  absl::Duration full_at_ = -absl::InfiniteDuration();
  std::vector<IpAddress> asked_;  // requested, and not answered yet
  absl::Duration next_ask_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_PEER_BOOK_H_
