// JoinLogs adds the events of logs to the capture of the same job.
#ifndef RAPIDEYE_COORDINATOR_CLI_JOIN_LOGS_H_
#define RAPIDEYE_COORDINATOR_CLI_JOIN_LOGS_H_

#include "absl/status/status.h"
#include "classifier/logs/job_logs.h"
#include "proto/v1/evidence.h"

namespace rapideye::cli {

// Each log belongs to the worker of its slice and task; in a job that counts ranks, to the worker
// of that number in the whole job. Events that a snapshot holds already are not added again. A
// worker that sent no snapshot gets one with its log's events, if there are any, and without a
// runtime. INVALID_ARGUMENT, and nothing is added: a log is of no worker of the capture.
absl::Status JoinLogs(const logs::JobEvidence& evidence, Capture& capture);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_JOIN_LOGS_H_
