// ChainSection draws who waits for whom: groups as boxes, from the many to the head.
#ifndef RAPIDEYE_DIGEST_HTML_CHAIN_H_
#define RAPIDEYE_DIGEST_HTML_CHAIN_H_

#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// Two drawings of Report::chain, of which the style sheet shows the one that fits the window, and
// the broken links and the two sides of a cut in words. Empty: nothing is known to wait.
std::string ChainSection(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_HTML_CHAIN_H_
