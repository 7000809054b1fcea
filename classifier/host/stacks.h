// Finds evidence in the stacks of training processes and in the list of other chip holders.
#ifndef RAPIDEYE_CLASSIFIER_HOST_STACKS_H_
#define RAPIDEYE_CLASSIFIER_HOST_STACKS_H_

#include <string>
#include <vector>

#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// The threads that run the training loop: the main thread, as Python and as the native
// side show it. Others load data, save and prefetch in health, too, and count only
// if no thread is known to be the main thread; threads of child processes never do. Sorted in
// an order that does not depend on the report's.
std::vector<const Stack*> LoopStacks(const Snapshot& snapshot);

// True for the main thread, as Python or as the native side names it.
bool IsMainThread(const Stack& stack);

// True for a thread of a process that the training process has started.
bool IsOfChild(const Stack& stack);

// The frame of a data loader in which the thread waits; empty: none, or it waits for the
// device further in.
std::string InputFrame(const Stack& stack);

// Adds the stacks of culprits' main threads, and processes that hold a host's chips, as
// sentences of evidence; cause and confidence stay.
void AddHostEvidence(const Capture& capture, Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_STACKS_H_
