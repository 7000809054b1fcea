// Plays transcripts of the coordinator's core on a FakeJob.
//
//   coordinator [launch-threshold= hang-threshold= startup-grace= collect-deadline=
//                job= slices= tasks-per-slice=]
//                                 a core begins; again: it was killed and another
//                                 one begins, which knows nothing
//   agents 2x4                    such a job connects; what comes of that is left out
//   agent W [incarnation= protocol= job= host= job-incarnation= slices=
//            tasks-per-slice= poll-interval= hlo-dumps=]
//                                 what it will say of itself
//   connect W | disconnect W | hello W (on a stream of its own, the old one left
//   open) | stream (that says nothing)
//   worker W [advancing= in-flight= answers= grants-only= process= runtime=
//             programs= new-program= launch= pc= dump=]
//                                 what its agent will see and do
//   heartbeat W | flood W count= | alarm W kind=: text | ready W collection= bytes= |
//   snapshot W collection= [bytes= of=W] | hlo W collection=: error |
//   malformed W: text             what it says now
//   run 20s [poll=1s]             time passes, agents heartbeat
//   concluded [hang=no]           the last conclusion is written
//   texts-wanted first= second= [module=]
//                                 its verdict: these workers run different programs
//   stop                          the program is asked to end
//   counters                      those that are not 0
//
// W is slice.task, or "all".
#ifndef RAPIDEYE_TESTS_TRANSCRIPTS_COORDINATOR_SCRIPT_H_
#define RAPIDEYE_TESTS_TRANSCRIPTS_COORDINATOR_SCRIPT_H_

#include <memory>

#include "tests/transcripts/transcript.h"

namespace rapideye::transcripts {

std::unique_ptr<Script> MakeCoordinatorScript();

}  // namespace rapideye::transcripts

#endif  // RAPIDEYE_TESTS_TRANSCRIPTS_COORDINATOR_SCRIPT_H_
