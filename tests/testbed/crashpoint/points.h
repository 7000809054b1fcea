// Names the points of a coordinator's work on an incident at which it can be made to die.
//
// A point has a name, of its kind and its number: "collect-2" is passed just
// before the second request for a snapshot is sent. What an incident passes, in
// their order:
//   collect-N    before a request for a snapshot is sent, of both looks
//   snapshot-N   before a snapshot that has arrived is taken
//   hlo-N        before a request for HLO is sent, if the agents do not know it yet
//   conclude-1   before the evidence is handed over to be classified
//   disk-N       before an operation of the store; torn-N: in the midst of it
//   log-1        before the digest goes to the log; log-2: when it is there
//   told-N       before an agent is told that the incident is concluded
//   enddisk-N    before an operation of the store on the note that it has ended, once the job goes
//                on; endtorn-N: in the midst of it
#ifndef RAPIDEYE_TESTS_TESTBED_CRASHPOINT_POINTS_H_
#define RAPIDEYE_TESTS_TESTBED_CRASHPOINT_POINTS_H_

namespace rapideye::testbed {

// The variable of the environment that names the deadly point. If the variable is not set, no
// point is deadly, and every point passed is printed on standard error.
inline constexpr char kCrashPointVariable[] = "TESTBED_CRASH_AT";
// Beginning of such a line; the point follows.
inline constexpr char kPassed[] = "crashpoint: ";

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_CRASHPOINT_POINTS_H_
