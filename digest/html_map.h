// MapSection shows the job as slices, hosts and chips; MapData is the same for the page's script.
#ifndef RAPIDEYE_DIGEST_HTML_MAP_H_
#define RAPIDEYE_DIGEST_HTML_MAP_H_

#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// Slices that hold a culprit or lack a worker are open, culprits larger; slices that stand alike
// are folded into a line, which opens. The hosts of a slice are drawn by the page's script.
std::string MapSection(const Report& report);

// {"states": [[text, cores, idle], ...],
//  "workers": [[slice, task, host, reported, culprit, [chip, type, index, state, culprit, ...]]]}
// One number or 0/1 each; of cores five numbers in a row, of which `state` is an
// index into states, and a chip of -1 is not known. By (slice, task). Where the torus is known a
// worker has its place, [x, y, z], as a seventh element. No "<" occurs, so that the text cannot end
// the <script> it stands in.
std::string MapData(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_HTML_MAP_H_
