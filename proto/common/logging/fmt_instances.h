// Says of the function to which all formatting of log lines leads that libfmt has it: fmt 9 has
// lost its own declaration, and every file that logs would compile it anew, with all that formats
// numbers and floats, for a second each. Precompiled for programs; nothing includes it otherwise.
// clang mangles the name of this function otherwise than g++, which made libfmt.
#ifndef RAPIDEYE_PROTO_COMMON_LOGGING_FMT_INSTANCES_H_
#define RAPIDEYE_PROTO_COMMON_LOGGING_FMT_INSTANCES_H_

#include <fmt/format.h>

#if FMT_VERSION / 10000 == 9 && !defined(__clang__)
extern template void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::basic_string_view<char>,
    fmt::basic_format_args<fmt::buffer_context<char>>, fmt::detail::locale_ref);
#endif

#endif  // RAPIDEYE_PROTO_COMMON_LOGGING_FMT_INSTANCES_H_
