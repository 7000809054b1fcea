// Commands lists what an operator would type next, ready to be copied.
#ifndef RAPIDEYE_DIGEST_COMMANDS_H_
#define RAPIDEYE_DIGEST_COMMANDS_H_

#include <string>
#include <vector>

#include "digest/report_model.h"

namespace rapideye::digest {

struct Command {
  std::string purpose;  // "Keep new jobs away from tpu-1-2 (Kubernetes)"
  std::string text;     // one line of a shell
};

// In the order to run them, at most 12. Names come from workers, and what is copied here is run by
// an operator: a name that a shell could read as anything but a name gets no command.
std::vector<Command> NextCommands(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_COMMANDS_H_
