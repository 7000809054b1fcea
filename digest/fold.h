// Folds names that differ only in numbers: "host-[0-63] (64)".
#ifndef RAPIDEYE_DIGEST_FOLD_H_
#define RAPIDEYE_DIGEST_FOLD_H_

#include <string>
#include <vector>

#include "proto/common/text/safe_text.h"

namespace rapideye::digest {

// Entries such as "tpu-[0-2,5]-[00-15] (64)", or the name itself if it is alone.
// Every distinct name is in exactly one entry, and an entry stands for exactly
// the names its ranges spell. Largest entry first, then by text: the order of
// `names` changes nothing. Names with other characters than letters, digits and
// "-._:" are left alone. About n log n.
std::vector<text::ListItem> FoldNames(std::vector<std::string> names);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_FOLD_H_
