// AddApart finds the cores for which a slice waits by the places where they stand apart from it.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_HEADS_APART_H_
#define RAPIDEYE_CLASSIFIER_WAIT_HEADS_APART_H_

#include "classifier/wait/head_list.h"

namespace rapideye::classifier {

// Adds heads that stand in an earlier launch than the crowd, or else elsewhere in the same one.
// `proven`: some heads show by themselves that they are heads.
void AddApart(HeadList& list, bool proven);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_HEADS_APART_H_
