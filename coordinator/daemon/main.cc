// rapideye-coordinator: one per job.
#include "coordinator/daemon/program.h"

int main(int argc, char** argv) { return rapideye::coordinator::RunProgram(argc, argv); }
