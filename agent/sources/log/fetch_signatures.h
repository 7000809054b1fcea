// Reads an operator's file of signatures.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_FETCH_SIGNATURES_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_FETCH_SIGNATURES_H_

#include <string>

#include "absl/status/statusor.h"
#include "classifier/logs/signatures.h"

namespace rapideye::agent {

// The built-in table and the file's additions to it (signatures.h: the form); only the
// built-in table if `path` is empty. INVALID_ARGUMENT names the file and the mistake in
// it.
absl::StatusOr<logs::SignatureTable> ReadSignatureTable(const std::string& path);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_FETCH_SIGNATURES_H_
