// AddSelfEvident finds the cores of a slice that show by themselves that they wait for no core.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_SELF_EVIDENT_HEADS_H_
#define RAPIDEYE_CLASSIFIER_WAIT_SELF_EVIDENT_HEADS_H_

#include "classifier/wait/head_list.h"

namespace rapideye::classifier {

// By their instruction, by a pc that moves, or by work that they have not begun.
void AddSelfEvident(HeadList& list);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_SELF_EVIDENT_HEADS_H_
