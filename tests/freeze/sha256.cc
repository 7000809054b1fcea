#include "tests/freeze/sha256.h"

#include <openssl/evp.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/escaping.h"

namespace rapideye::freeze {

std::string Sha256(std::string_view bytes) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), hash, &size, EVP_sha256(), nullptr) != 1) {
    std::fputs("OpenSSL cannot compute SHA-256\n", stderr);
    std::abort();
  }
  return absl::BytesToHexString({reinterpret_cast<const char*>(hash), size});
}

}  // namespace rapideye::freeze
