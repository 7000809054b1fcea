// Words the classifier's data: the chain of waiting groups, and the causes that were considered.
//
// Sentences for people, in plain English, without a full stop at the end and not escaped.
#ifndef RAPIDEYE_CLASSIFIER_WORDING_WORDING_H_
#define RAPIDEYE_CLASSIFIER_WORDING_WORDING_H_

#include <string>
#include <string_view>

#include "classifier/verdict/verdict.h"
#include "classifier/verdict/wait_chain.h"
#include "proto/v1/evidence.h"

namespace rapideye {

// The place of a training loop, by its progress page: "in a checkpoint".
std::string_view PhaseText(Phase phase);

// Why a cause is not the verdict: "none of 48 connections that sockets and probes show is broken".
std::string WhyNotText(const Considered& considered);

// Words the state of a group's members: "wait at a collective in their slice".
std::string WaitText(const ChainGroup& group);

// The words between the names of an edge's groups: "waits across slices for".
std::string EdgeText(WaitEdgeKind kind);

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_WORDING_WORDING_H_
