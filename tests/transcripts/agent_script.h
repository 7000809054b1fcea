// Plays transcripts of the agent's core on a CoreScript.
//
//   agent [poll-interval= seed= watches-host=yes incarnation= protocol= hlo-dumps=yes]
//                                 a core begins; again: the agent restarted
//   show [polls=no heartbeats=no] what is left out of the output
//   runtime idle | serving [launch= pc= program= queued= error=] |
//           unavailable | timed-out | unimplemented [: detail]
//                                 what the runtime answers from now on
//   hlo NAME [module=]            what it adds when asked for HLO
//   silence runtime|host, answer runtime|host
//                                 its polls stay unanswered, until now
//   process alive [pid= start=] | ended [exit= signal=]
//                                 what the host shows of the training process
//   log KIND [old=yes]: text      a recognised line: hang, halt, assertion, follow-on
//   dump fetch= [file=] [: why there is none]
//                                 what was read of XLA's dumps
//   dumps [module= fingerprint=] [: why nothing is known]
//                                 which programs they name
//   run 20s [launch-every=1s]     time passes
//   welcome, collect, grant, hlo-request, module-text-request, cancel
//                                 the coordinator says
//   closed code=UNAVAILABLE: text the stream is over
//   shutdown                      the agent is asked to end
#ifndef RAPIDEYE_TESTS_TRANSCRIPTS_AGENT_SCRIPT_H_
#define RAPIDEYE_TESTS_TRANSCRIPTS_AGENT_SCRIPT_H_

#include <memory>

#include "tests/transcripts/transcript.h"

namespace rapideye::transcripts {

std::unique_ptr<Script> MakeAgentScript();

}  // namespace rapideye::transcripts

#endif  // RAPIDEYE_TESTS_TRANSCRIPTS_AGENT_SCRIPT_H_
