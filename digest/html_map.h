// MapData makes the data behind the page's map of slices, hosts and chips.
#ifndef RAPIDEYE_DIGEST_HTML_MAP_H_
#define RAPIDEYE_DIGEST_HTML_MAP_H_

#include <string>

#include "digest/report_model.h"

namespace rapideye::digest {

// JSON that may stand inside a <script> element: ASCII, without '<'.
//   {"states":[["label", cores, kind]],   kind: 0 waiting or unknown, 1 idle
//    "workers":[[slice, task, "host", reported 0|1, accused 0|1,
//                [chip, type, index, state, accused 0|1, …five numbers a core]]]}
// chip is -1 if not reported; type 0 unknown, 1 TensorCore, 2 SparseCore V0,
// 3 SparseCore. Every expected worker is listed, in the order of task ids.
std::string MapData(const Report& report);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_HTML_MAP_H_
