// Reads Python's stacks of a process and of its children by py-spy, which stops nothing.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_PYTHON_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_PYTHON_H_

#include <string>
#include <vector>

#include "agent/sources/process/state.h"
#include "agent/sources/stacks/fetch.h"
#include "agent/sources/stacks/parse.h"

namespace rapideye::agent {

struct PythonReading {
  std::vector<ThreadStack> threads;
  std::vector<ChildStacks> children;
  std::string unavailable;  // why there are none of the process itself; empty: nothing is wrong
};

// Blocks until options.python_deadline at most, or until `cancel` is readable.
PythonReading ReadPython(const StackOptions& options, const ProcessSample& process, int cancel);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_PYTHON_H_
