#include "proto/transport/identity.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/common/text/pattern.h"

namespace rapideye::transport {
namespace {

using grpc::experimental::ExternalCertificateVerifier;
using grpc::experimental::TlsCustomVerificationCheckRequest;

// A certificate may hold thousands of names; a status text takes a few.
constexpr size_t kMaxShownNames = 8;

class IdentityVerifier final : public ExternalCertificateVerifier {
 public:
  explicit IdentityVerifier(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  bool Verify(TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* status) override {
    std::vector<std::string> names;
    const auto add = [&names](grpc::string_ref name) {
      if (!name.empty()) names.emplace_back(name.data(), name.size());
    };
    add(request->common_name());
    for (const grpc::string_ref& name : request->uri_names()) add(name);
    for (const grpc::string_ref& name : request->dns_names()) add(name);
    for (const grpc::string_ref& name : request->email_names()) add(name);
    for (const grpc::string_ref& name : request->ip_names()) add(name);
    *status = MatchesIdentity(names, patterns_)
                  ? grpc::Status::OK
                  : grpc::Status(grpc::StatusCode::PERMISSION_DENIED,
                                 absl::StrCat("its certificate is of ", JoinNames(names),
                                              ", which --tls-identity does not name"));
    return true;  // decided at once
  }
  void Cancel(TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::vector<std::string> patterns_;
};

}  // namespace

std::vector<std::string> PeerNames(const grpc::AuthContext& context) {
  std::vector<std::string> names;
  for (const char* property : {GRPC_X509_CN_PROPERTY_NAME, GRPC_X509_SAN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : context.FindPropertyValues(property)) {
      if (!name.empty()) names.emplace_back(name.data(), name.size());
    }
  }
  return names;
}

std::string PeerIdentity(const grpc::AuthContext& context) {
  std::vector<std::string> names = PeerNames(context);
  std::sort(names.begin(), names.end());
  for (std::string& name : names) name = absl::CHexEscape(name);
  return absl::StrJoin(names, "\n");
}

std::string PeerChain(const grpc::AuthContext& context) {
  std::string chain;
  for (const char* property :
       {GRPC_X509_PEM_CERT_PROPERTY_NAME, GRPC_X509_PEM_CERT_CHAIN_PROPERTY_NAME}) {
    for (const grpc::string_ref& pem : context.FindPropertyValues(property)) {
      chain.append(pem.data(), pem.size());
    }
  }
  return chain;
}

bool MatchesIdentity(const std::vector<std::string>& names,
                     const std::vector<std::string>& patterns) {
  const auto has_nul = [](const std::string& name) { return name.find('\0') != name.npos; };
  if (std::any_of(names.begin(), names.end(), has_nul)) return false;
  return std::any_of(names.begin(), names.end(), [&patterns](const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&name](const std::string& pattern) {
      return text::MatchesPattern(name, pattern);
    });
  });
}

std::string JoinNames(const std::vector<std::string>& names) {
  if (names.empty()) return "nobody";
  const size_t shown = std::min(names.size(), kMaxShownNames);
  const auto end = names.begin() + static_cast<ptrdiff_t>(shown);
  return absl::StrCat(absl::StrJoin(names.begin(), end, ", ",
                                    [](std::string* out, const std::string& name) {
                                      absl::StrAppend(out, absl::CHexEscape(name));
                                    }),
                      shown < names.size() ? ", ..." : "");
}

std::shared_ptr<grpc::experimental::CertificateVerifier> MakeIdentityVerifier(
    std::vector<std::string> patterns) {
  return ExternalCertificateVerifier::Create<IdentityVerifier>(std::move(patterns));
}

}  // namespace rapideye::transport
