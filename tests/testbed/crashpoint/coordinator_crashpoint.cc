// coordinator-crashpoint: rapideye-coordinator, and it dies at a chosen point of
// its work on an incident.
#include <cstdlib>

#include "coordinator/daemon/program.h"
#include "tests/testbed/crashpoint/crashpoint.h"

int main(int argc, char** argv) {
  const char* deadly = std::getenv(rapideye::testbed::kCrashPointVariable);
  rapideye::testbed::CrashPoints points(deadly == nullptr ? "" : deadly);
  return rapideye::coordinator::RunProgram(
      argc, argv,
      [&points](rapideye::coordinator::CoordinatorSettings& settings) { points.Watch(settings); });
}
