// Keeps other processes of the same user out of this one.
#ifndef RAPIDEYE_PROTO_COMMON_PROCESS_PRIVATE_MEMORY_H_
#define RAPIDEYE_PROTO_COMMON_PROCESS_PRIVATE_MEMORY_H_

namespace rapideye {

// From now on only processes with CAP_SYS_PTRACE can read this process's memory and environment,
// attach to it, or walk through /proc/PID/root into its mount namespace, where its keys may lie;
// and it leaves no core file. Its reads of itself, and programs that it starts, are as before. Does
// nothing in builds with sanitizers, which trace themselves.
void KeepMemoryPrivate();

// False in a build with a sanitizer, which traces its own process: there it does nothing.
bool CanKeepMemoryPrivate();

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_PROCESS_PRIVATE_MEMORY_H_
