#include "tests/support/hlo_samples.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "proto/common/gzip/gzip.h"

namespace rapideye {

std::string ReadHloSample(const std::string& folder, const std::string& name) {
  constexpr size_t kMaxBytes = 64 << 20;
  std::ifstream file(folder + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + folder + "/" + name);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!name.ends_with(".gz")) return bytes;
  absl::StatusOr<std::string> text = gzip::Decompress(bytes, kMaxBytes);
  if (!text.ok()) throw std::runtime_error(name + ": " + std::string(text.status().message()));
  return *std::move(text);
}

std::string ReadHloSample(const std::string& name) {
  const char* folder = std::getenv("RAPIDEYE_TEST_DATA");
  return ReadHloSample(folder == nullptr ? "" : folder, name);
}

}  // namespace rapideye
