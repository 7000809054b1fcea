// OneSentence states what stopped, where, and how many wait: the first line of the page,
// and for everybody who reads the digest elsewhere.
#ifndef RAPIDEYE_DIGEST_SENTENCE_H_
#define RAPIDEYE_DIGEST_SENTENCE_H_

#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// "tpu-1-2 chip 2 stopped in fusion.212." or what is so instead; total, never empty.
// Escaped as a line of text, not for HTML.
struct OneSentence {
  std::string what;   // "tpu-1-2 chip 2 stopped in fusion.212."
  std::string waits;  // "31 cores wait for it."; empty: nobody is known to
};
OneSentence WriteSentence(const Report& report);

// Both parts as one text: "tpu-1-2 chip 2 stopped in fusion.212. 31 cores wait for it."
std::string SentenceText(const Report& report);

// The label of a slice on the map that holds a culprit: "stopped here", "loops here". Empty for a
// job that does not hang.
const char* CulpritLabel(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_SENTENCE_H_
