// Matches frames with the wait or the activity of a thread.
//
// Facts: functions of JAX, Orbax, Grain, PyTorch and CPython, which are public, and wait
// channels of Linux.
#ifndef RAPIDEYE_CLASSIFIER_HOST_FRAME_MATCH_H_
#define RAPIDEYE_CLASSIFIER_HOST_FRAME_MATCH_H_

#include <cstddef>
#include <string_view>

#include "classifier/host/frame.h"
#include "classifier/verdict/verdict.h"

namespace rapideye::classifier {

// For whom a loop waits. Loops with the same value wait for one another, or for the same others.
enum class HostWait {
  kNone,      // for no other process: it does work of its own
  kDevice,    // for the device, or within a collective
  kBarrier,   // for the other processes, at a barrier on the host
  kStartUp,   // for the other processes to join
  kShutdown,  // for the other processes to leave
};

// With kNone and kOther, no frame matched.
struct FrameMatch {
  HostWait wait = HostWait::kNone;
  HostActivity activity = HostActivity::kOther;
  const Frame* frame = nullptr;  // the frame that shows it

  bool IsNothing() const { return wait == HostWait::kNone && activity == HostActivity::kOther; }
};

// The number of innermost frames that have interrupted a wait: no wait for the device or the other
// processes calls the program, but the handler of a signal runs above whatever it meets. All frames
// if there is no such wait.
size_t FramesAboveWait(const Frames& frames);

// These functions require at least one frame.

// Matches frames of libraries that have a function for the wait or the activity: compiler,
// start-up and shutdown, checkpoints, barriers, the device.
FrameMatch MatchLibraries(const Frames& frames);
// Matches the program's own function, if no library frame matches. kOther with a frame: that
// frame is all that is known.
FrameMatch MatchProgram(const Frames& frames);
// The native side of a thread of Python, below its innermost function.
FrameMatch MatchNative(const Frames& frames);

// The activity by the wait channel in the kernel (/proc/PID/wchan).
HostActivity ActivityOfWaitChannel(std::string_view channel);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_FRAME_MATCH_H_
