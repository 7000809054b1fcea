#include "proto/common/text/host_name.h"

#include <algorithm>
#include <cstddef>

namespace rapideye::text {
namespace {

// True if the pod's name is the host's with "-" and the five random letters of Kubernetes.
bool IsPodOf(std::string_view pod, std::string_view host) {
  constexpr size_t kRandom = 5;
  host = host.substr(0, host.find('.'));
  if (pod.size() != host.size() + 1 + kRandom || !pod.starts_with(host)) return false;
  const std::string_view random = pod.substr(host.size() + 1);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_random = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return pod[host.size()] == '-' && std::all_of(random.begin(), random.end(), is_random) &&
         std::any_of(random.begin(), random.end(), is_letter);
}

}  // namespace

bool AreOneHost(std::string_view a, std::string_view b) {
  return a == b || (a.starts_with(b) && a[b.size()] == '.') ||
         (b.starts_with(a) && b[a.size()] == '.');
}

bool ArePodAndHost(std::string_view a, std::string_view b) {
  return IsPodOf(a, b) || IsPodOf(b, a);
}

}  // namespace rapideye::text
