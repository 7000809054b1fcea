// SameKernelElsewhere compares two bodies of a Pallas kernel but for where its source lies.
#ifndef RAPIDEYE_CLASSIFIER_HLO_KERNEL_BODY_H_
#define RAPIDEYE_CLASSIFIER_HLO_KERNEL_BODY_H_

#include <string_view>

namespace rapideye::classifier {

// `left` and `right`: the "body" of a tpu_custom_call, MLIR bytecode in base64, which holds the
// paths and the lines of its source beside the kernel's code. True only if the bodies differ in
// these alone. False also if a body cannot be read. Facts: MLIR's "Bytecode Format", versions 0 to
// 6, and the encodings of its builtin dialect.
bool SameKernelElsewhere(std::string_view left, std::string_view right);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_KERNEL_BODY_H_
