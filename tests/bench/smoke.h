// Smoke tells a benchmark whether it runs to be measured, or only to see that it still runs.
#ifndef RAPIDEYE_TESTS_BENCH_SMOKE_H_
#define RAPIDEYE_TESTS_BENCH_SMOKE_H_

#include <cstdlib>

namespace rapideye::bench {

// True: whatever takes long by choice is to be cut short.
inline bool Smoke() { return std::getenv("RAPIDEYE_BENCH_SMOKE") != nullptr; }

}  // namespace rapideye::bench

#endif  // RAPIDEYE_TESTS_BENCH_SMOKE_H_
