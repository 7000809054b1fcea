// CertificateWatch looks at a daemon's own TLS files again and again: when they end, and whether
// the set of peers that they let in has changed.
#ifndef RAPIDEYE_PROTO_TRANSPORT_CERTIFICATE_WATCH_H_
#define RAPIDEYE_PROTO_TRANSPORT_CERTIFICATE_WATCH_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/common/worker/periodic_worker.h"
#include "proto/transport/credentials.h"
#include "proto/transport/tls_files.h"

namespace rapideye::transport {

// Ends of a daemon's own certificates. Absent: there is none, or it could not be read.
struct CertificateExpiry {
  std::optional<absl::Time> certificate;
  std::optional<absl::Time> authority;  // of several the last end
};

// Warns a person of the ends: no line until a week before, then each line once a day.
class ExpiryNotice {
 public:
  // Warnings of --tls-cert and --tls-ca, in this order; empty: none now.
  std::string Observe(const CertificateExpiry& expiry, absl::Time now);

 private:
  absl::Time told_ = absl::InfinitePast();
};

// Thread-safe. Looks from a thread of its own, since a disk may hang; a thread that hangs when this
// object ends is left behind.
class CertificateWatch {
 public:
  struct Actions {
    std::function<void(const std::string& text)> warn;
    // The CA or the revocation lists have changed: check the connected peers, and also those that
    // connect later, since gRPC itself reads a list only once.
    std::function<void(const std::shared_ptr<const PeerChecker>& checker)> changed;
  };

  // Without TLS it calls no action. `interval`: between two looks.
  CertificateWatch(const CredentialOptions& options, Actions actions,
                   absl::Duration interval = absl::Seconds(60));
  ~CertificateWatch();

  // The ends as of the last look.
  CertificateExpiry expiry() const;
  // Afterwards no action is called. False if the thread hangs, and was left behind.
  bool Stop();

 private:
  struct State;
  const std::shared_ptr<State> state_;
  std::optional<PeriodicWorker> worker_;
};

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_CERTIFICATE_WATCH_H_
