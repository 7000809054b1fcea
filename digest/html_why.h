// Writes the sections of the page that say why: evidence, programs, main threads, positions.
#ifndef RAPIDEYE_DIGEST_HTML_WHY_H_
#define RAPIDEYE_DIGEST_HTML_WHY_H_

#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// Evidence by strength, what was considered beside the verdict, and what was missing.
std::string WhySection(const Report& report);

// The workers grouped by where their main threads stand; empty: no stacks are known.
std::string StacksSection(const Report& report);

// The two sides of a divergence, where their programs first differ; empty: not compared.
std::string HloSection(const Report& report);

// Every position, as a table that can be sorted; bounded to what a browser still sorts at once.
std::string StatesSection(const Report& report);

// The steps of the decision, in their order; empty: there are none.
std::string ReasonsSection(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_HTML_WHY_H_
