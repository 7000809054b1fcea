// Salts the hashes of settings, anew for each collection.
#ifndef RAPIDEYE_COORDINATOR_SERVER_COLLECTION_SALT_H_
#define RAPIDEYE_COORDINATOR_SERVER_COLLECTION_SALT_H_

#include <string>

#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// The salts of one process cannot be guessed, and are never written anywhere: a hash in a capture
// tells whether two workers of it have the same value, and nothing about the value, or about
// another capture's. Thread-safe.
class CollectionSalt {
 public:
  // Takes a secret from the system's source of randomness; without one no salts are given.
  CollectionSalt();

  // Sets the salt: the same for all messages of an incident, whose two looks may end up in one
  // capture, otherwise of a collection.
  void AddTo(wire::Collect& collect) const;

 private:
  std::string secret_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_COLLECTION_SALT_H_
