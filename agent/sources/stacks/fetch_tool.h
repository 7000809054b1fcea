// Runs a tool that inspects another process, within limits that protect the
// agent.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_TOOL_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_TOOL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace rapideye::agent {

struct ToolRun {
  std::string output;  // of standard output, up to the limit
  std::string error;   // its error on standard error, or why it did not start
  bool in_time = false;
  // True if the tool did not end by itself, so that its work was left half done.
  bool killed = false;
  std::optional<int> exit_code;  // if it ended by itself
};

// Runs the tool without a shell, with nothing of our environment and no descriptor of ours; at
// the deadline, beyond `max_bytes` of output, or once `cancel` is readable, it is killed
// with all that it started. Should the agent end first, the tool goes on to its own end.
ToolRun RunTool(const std::vector<std::string>& command, absl::Duration deadline, size_t max_bytes,
                int cancel);

// Why the run gave nothing, and who may look into processes of this machine; empty: the run
// succeeded.
std::string WhyNoOutput(const std::string& name, const ToolRun& run, absl::Duration deadline,
                        const std::string& proc_root);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_TOOL_H_
