// Compares names of machines, which logs, pods and agents write in several forms.
#ifndef RAPIDEYE_PROTO_COMMON_TEXT_HOST_NAME_H_
#define RAPIDEYE_PROTO_COMMON_TEXT_HOST_NAME_H_

#include <string_view>

namespace rapideye::text {

// True if both names are equal, or one is cut at a dot.
bool AreOneHost(std::string_view a, std::string_view b);

// True if one is the name of the pod whose host name the other is. The names of a job's pods end
// with five random letters ("train-0-3-x7k2q"), their host names do not. A host may by chance be
// called as a pod of another would be: equal names are surer.
bool ArePodAndHost(std::string_view a, std::string_view b);

}  // namespace rapideye::text

#endif  // RAPIDEYE_PROTO_COMMON_TEXT_HOST_NAME_H_
