// Tells whether a path lies on a file system of another host.
#ifndef RAPIDEYE_PROTO_COMMON_FILE_NETWORK_FILE_SYSTEM_H_
#define RAPIDEYE_PROTO_COMMON_FILE_NETWORK_FILE_SYSTEM_H_

#include <cstdint>
#include <string>

namespace rapideye::file {

// The network file system ("NFS", "Lustre" ...) that statfs tells by this number; "" for any other
// type, also FUSE: the root of a container may be of that type.
std::string NetworkTypeOf(int64_t magic);

// The same for the file system that holds `path`, or its nearest existing parent. "" also if that
// cannot be asked. May block as long as the disk does.
std::string NetworkFileSystemOf(const std::string& path);

}  // namespace rapideye::file

#endif  // RAPIDEYE_PROTO_COMMON_FILE_NETWORK_FILE_SYSTEM_H_
