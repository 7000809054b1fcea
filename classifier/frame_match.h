// Matches frames with what a thread waits for or is in.
//
// Facts: functions of JAX, Orbax, Grain, PyTorch and CPython, which are public, and wait
// channels of Linux.
#ifndef RAPIDEYE_CLASSIFIER_FRAME_MATCH_H_
#define RAPIDEYE_CLASSIFIER_FRAME_MATCH_H_

#include <string_view>

#include "classifier/frame.h"
#include "classifier/verdict.h"

namespace rapideye::classifier {

// For whom a loop waits. Those who wait alike wait for one another, or for the same others.
enum class HostWait {
  kNone,      // for nobody: it does something of its own
  kDevice,    // for the device, or within a collective
  kBarrier,   // for the other processes, at a barrier on the host
  kStartUp,   // for the other processes to join
  kShutdown,  // for the other processes to leave
};

// Nobody and OTHER: nothing is matched.
struct FrameMatch {
  HostWait wait = HostWait::kNone;
  HostActivity activity = HostActivity::kOther;
  const Frame* frame = nullptr;  // that tells it

  bool IsNothing() const { return wait == HostWait::kNone && activity == HostActivity::kOther; }
};

// These take at least one frame.

// The libraries that bear a name for it: compiler, start-up and shutdown, checkpoints, barriers,
// the device.
FrameMatch MatchLibraries(const Frames& frames);
// The program's own function, where no library has a name for what it is in. OTHER with a frame:
// nothing else tells more.
FrameMatch MatchProgram(const Frames& frames);
// The native side of a thread of Python, below its innermost function.
FrameMatch MatchNative(const Frames& frames);

// By where the kernel lets a thread wait (/proc/PID/wchan).
HostActivity ActivityOfWaitChannel(std::string_view channel);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FRAME_MATCH_H_
