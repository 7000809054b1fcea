// Gives memory back that only the start of a program needed.
#ifndef RAPIDEYE_PROTO_COMMON_PROCESS_FORGET_START_UP_H_
#define RAPIDEYE_PROTO_COMMON_PROCESS_FORGET_START_UP_H_

namespace rapideye {

// Unmaps the pages of programs and libraries that this process has not written to: what it
// still needs it finds in the kernel's cache of files at its next use. A process that goes
// on with a small part of its program then counts for a fraction of its size. Reads
// /proc/self/smaps; without it no page is unmapped. Gives the free memory of the heap back, too. A
// millisecond; any thread.
void ForgetStartUp();

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_PROCESS_FORGET_START_UP_H_
