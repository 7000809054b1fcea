#include "coordinator/server/collection_salt.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

constexpr size_t kSecretBytes = 32;

}  // namespace

CollectionSalt::CollectionSalt() {
  std::array<unsigned char, kSecretBytes> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return;
  secret_.assign(bytes.begin(), bytes.end());
}

void CollectionSalt::AddTo(wire::Collect& collect) const {
  if (secret_.empty()) return;
  const std::string name =
      collect.incident.has_value() ? *collect.incident : absl::StrCat(collect.collection);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
       reinterpret_cast<const unsigned char*>(name.data()), name.size(), digest.data(), &size);
  collect.salt = absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace rapideye::coordinator
