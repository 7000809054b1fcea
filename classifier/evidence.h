#ifndef RAPIDEYE_CLASSIFIER_EVIDENCE_H_
#define RAPIDEYE_CLASSIFIER_EVIDENCE_H_

#include "classifier/pause.h"
#include "proto/v1/evidence.h"

#endif  // RAPIDEYE_CLASSIFIER_EVIDENCE_H_
