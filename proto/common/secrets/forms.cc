#include "proto/common/secrets/forms.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace rapideye::secrets {
namespace {

// Names to which secrets are assigned. They may have anything in front ("DB_", "--hf-"), but no
// slash: /etc/passwd is a path.
#define RAPIDEYE_NAME_START R"((?:^|[^\w./-])[\w.-]*)"
#define RAPIDEYE_SECRET_NAMES                                                          \
  R"((?:passwords?|passwd|passphrase|pwd|secrets?|credentials?|)"                      \
  R"((?:db|smtp|mail|mysql|pg|postgres|redis|rabbitmq|mongo|ldap|ssh|sudo|become|)"    \
  R"(root|admin|user|proxy|registry|key|store)[_-]?pass|secret[_-]key[_-]base|)"       \
  R"((?:api[ ]|(?:api|access|private|secret|account|auth|encryption|signing|storage|)" \
  R"(master|fernet|license|subscription)[_-]?)key)"                                    \
  R"((?:[_-]?id)?))"
// The bracket: os.environ['API_KEY'] = ….
#define RAPIDEYE_SEPARATOR R"(\\*["']?\]?[ \t]{0,8}(?:=>|[:=])[ \t]{0,8})"
// A value in quotes, in escaped quotes (JSON within a string), as the argument of its type
// (SecretStr('…')), or up to the end of a list's entry.
#define RAPIDEYE_VALUE                                              \
  R"((?:[A-Za-z_]+\([bru]?["']([^"'\n]+)["']|)"                     \
  R"(\\+"((?:[^"\\\n]|\\[^"\n])+)|[bru]{0,2}"((?:[^"\\\n]|\\.)+)|)" \
  R"([bru]{0,2}'((?:[^'\\\n]|\\.)+)|([^\s"'\\:=<>(\[{&,;][^\s"'&,;)}\]]*)))"

constexpr std::array kForms = {
    Form{"private key in PEM",
         R"((?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(.+?)(?:-----END|\z))"},
    Form{"user and password in a URL",
         R"(\b[A-Za-z][A-Za-z0-9+.-]*://([^\s/?#"'<>]*:[^\s/?#"'<>]+)@)"},
    Form{"token in the place of a URL's user", R"((?i)\bhttps?://([A-Za-z0-9._~%+-]{16,})@)",
         Judge::kRandom},
    Form{"password of a database's address", R"([\w.-]:([^\s/?#"'<>:@]+)@(?:tcp|unix)\()"},
    Form{
        "Authorization header",
        R"((?i)\bauthorization\\*["']?\s*[:=,]\s*\\*["']?(?:bearer|basic|digest|negotiate|ntlm|)"
        R"(token|api-?key|key|oauth|signature|aws|aws4-hmac-sha256|sharedkey(?:lite)?|hawk|splunk)\s+([^"'\\\r\n]+))"},
    Form{"Authorization header without a scheme",
         R"((?i)\bauthorization\\*["']?\s*[:=,]\s*\\*["']?([A-Za-z0-9._~+/=-]{16,}))",
         Judge::kRandom},
    Form{"bearer token", R"((?i)\bbearer[\s:=]\s*([A-Za-z0-9._~+/=-]{12,}))", Judge::kRandom},
    Form{"basic authentication", R"((?i)\bbasic\s+([A-Za-z0-9+/_-]{8,}={0,2}))", Judge::kRandom},
    Form{"cookie", R"((?i)\b(?:set-)?cookie\\*["']?\s*[:=]\s*\\*["']?([\w.-]+=[^"'\\\r\n]+))"},
    Form{"AWS access key", R"(\b((?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16})\b)"},
    Form{"Google access token", R"(\b(ya29\.[A-Za-z0-9._-]{16,}))"},
    Form{"Google API key", R"(\b(AIza[A-Za-z0-9_-]{30,}))"},
    Form{"access key of Google's storage", R"(\b(GOOG1[A-Z0-9]{16,})\b)"},
    Form{"Google client secret", R"(\b(GOCSPX-[A-Za-z0-9_-]{16,}))"},
    Form{"Google refresh token", R"(\b(1//0[A-Za-z0-9_-]{30,}))"},
    Form{"Hugging Face token", R"(\b((?:hf|api_org)_[A-Za-z0-9]{20,}))"},
    Form{"GitHub token", R"(\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}))"},
    Form{"GitLab token", R"(\b(gl(?:pat|ptt|rt|dt|cbt|ft|soat|agent)-[A-Za-z0-9_-]{16,}))"},
    Form{"Slack token", R"(\b((?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}))"},
    Form{
        "webhook of a chat",
        R"(hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]+)|)"
        R"(/api/webhooks/\d+/([A-Za-z0-9_-]{20,})|/webhookb2/([A-Za-z0-9@/_-]{20,})|)"
        R"(/IncomingWebhook/([A-Za-z0-9/_-]{20,})|api\.telegram\.org/bot(\d+:[A-Za-z0-9_-]{20,}))"},
    // Tokens that their services begin with a name of their own, so that scanners find them.
    Form{"token of a cloud, a store or a registry",
         R"(\b(do[opr]_v1_[0-9a-f]{32,}|dapi[0-9a-f]{32}|hv[sbr]\.[A-Za-z0-9_-]{20,}|)"
         R"([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}|)"
         R"([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}|AGE-SECRET-KEY-1[A-Z0-9]{40,}))"},
    Form{"token of a service for models",
         R"(\b(gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|nvapi-[A-Za-z0-9_-]{40,}|)"
         R"(xai-[A-Za-z0-9]{40,}|tgp_v1_[A-Za-z0-9_-]{40,}|lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}))"},
    Form{"token of another service",
         R"(\b([sr]k_(?:live|test)_[A-Za-z0-9]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|)"
         R"(gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}|NRAK-[A-Z0-9]{20,}|lin_api_[A-Za-z0-9]{30,}|)"
         R"(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}|)"
         R"(ATATT3[A-Za-z0-9_=-]{40,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}))"},
    Form{"JSON web token", R"(\b(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*))"},
    Form{"JSON in base64, as Neptune's tokens", R"(\b(eyJ[A-Za-z0-9+/_-]{40,}={0,2}))"},
    Form{"key of OpenAI's and Anthropic's form", R"((?:^|[^\w.-])(sk-[A-Za-z0-9_-]{20,}))",
         Judge::kRandom},
    Form{
        "Weights & Biases key",
        R"(\b(wandb_v\d_[A-Za-z0-9_-]{16,}|local-[0-9a-f]{40})|\bwandb\s+login\s+(?:--\S+\s+)*([0-9a-fA-F]{40}))"},
    Form{"npm and PyPI token", R"(\b(npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}))"},
    Form{"signed URL",
         R"((?i)\bX-(?:Goog|Amz)-(?:Signature|Security-Token|Credential)(?:=|%3D)([^&\s"'<>\\]+))"},
    Form{"signature in a URL",
         R"((?i)(?:[?&;]|\\u0026|%26)(?:sig|signature|awsaccesskeyid|googleaccessid|key|jwt|pass)=)"
         R"(([^&\s"'<>\\]{8,}))"},
    Form{"login in a URL", R"((?i)[?&](?:auth|code)=([^&\s"'<>\\]{12,}))", Judge::kRandom},
    Form{"bearer token within a URL",
         R"((?i)(?:\b|%[0-9a-f]{2})bearer(?:%20|\+)([A-Za-z0-9._~+/=%-]{12,}))", Judge::kRandom},
    Form{"secret within a URL within a URL",
         R"((?i)(?:token|password|passwd|secret|signature|api_?key)%3D([^&\s"'<>\\%]{4,}))"},
    Form{"docker's configuration", R"((?i)\\*"auth\\*"\s*:\s*\\*"([A-Za-z0-9+/=]{8,}))"},
    Form{"key in a kubeconfig", R"(\bclient-key-data\\*["']?:\s*\\*["']?([A-Za-z0-9+/=]{16,}))"},
    Form{"variable of a pod",
         R"((?i)\bname\\*["']?\s*[:=]\s*\\*["']?[\w.-]*(?:password|passwd|secret|token|api_?key|)"
         R"(access_?key)\\*["']?[\s,]+\\*["']?value\\*["']?\s*[:=]\s*\\*["']?([^\s"'\\,;}]+))",
         Judge::kAssigned},
    Form{"element of XML",
         R"((?i)<[\w:.-]*(?:password|passwd|passphrase|secret|api_?key|access_?key)>([^<\s]+)</)",
         Judge::kAssigned},
    // Names of columns stand in such lists, too.
    Form{"pair of a name and a secret",
         R"((?i)["'][\w.-]*(?:password|passwd|passphrase|secret|api_?key|access_?key)["'],\s{0,4})"
         R"([bru]?["']([^"'\s]{6,})["'])",
         Judge::kRandom},
    Form{"password told",
         R"((?i)\b(?:password|passphrase|secret)\s(?:is|was|->)\s["'`]?([^\s"'`,;]{6,}))",
         Judge::kRandom},
    Form{"authorization of npm, redis-cli and sshpass",
         R"(\b_auth(?:Token)?\s?=\s?"?([A-Za-z0-9+/=_.-]{8,})|)"
         R"(\b(?:REDISCLI_AUTH|SSHPASS)=["']?([^\s"']+))"},
    Form{"password given to a command",
         R"(\s-pass(?:in|out)?\s+pass:(\S+)|\baz\s+login\b[^\n]*?\s-p[ =]["']?([^\s"']+)|)"
         R"(\bmongo(?:sh|dump|restore|import|export)?\s[^\n]*?\s-p[ =]["']?([^\s"']+)|)"
         R"(\bsmbclient\b[^\n]*?\s-U[ =]?[^\s%]+%(\S+)|)"
         R"(\s--from-literal[= ][^\s=]+=["']?([^\s"']+)|)"
         R"(\bconfigure\s+set\s+aws_(?:secret_access_key|session_token)\s+(\S+))"},
    Form{"password of an archive",
         R"(\bzip\b[^\n]*?\s-P[ =]?["']?([^\s"']+)|\b7z[az]?\b[^\n]*?\s-p["']?([^\s"']+))"},
    Form{"netrc", R"(\blogin\s+\S+\s+password\s+(\S+))"},
    Form{"user and password of curl",
         R"(\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?["']?[^\s:"']+:([^\s"']+))"},
    Form{"password of sshpass", R"(\bsshpass\s+-p\s*(\S+))"},
    Form{"password of docker login", R"(\bdocker\s+login\b[^\n]*?\s-p[ =]?["']?([^\s"']+))"},
    Form{"password of mysql", R"(\bmysql(?:dump|admin)?\b[^\n]*?\s-p["']?([^\s"']+))"},
    Form{"password of redis-cli", R"(\bredis-cli\b[^\n]*?\s-a[ =]?["']?([^\s"']+))"},
    // A value on a command line or of a variable ends where the next begins.
    Form{"secret flag",
         R"((?i)(?:^|[^\w-])--?[\w.-]*)" RAPIDEYE_SECRET_NAMES
         R"((?:=|\s+)["']?([^\s"'-][^\s"']*))",
         Judge::kAssigned},
    Form{"token flag", R"((?i)(?:^|[^\w-])--?[\w.-]*token(?:=|\s+)["']?([^\s"'-][^\s"']*))",
         Judge::kToken},
    Form{"secret variable",
         R"(\b[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIALS?|API_?KEY|ACCESS_KEY|)"
         R"(ACCESS_KEY_ID|PRIVATE_KEY|SECRET_KEY)=([^\s"']+))",
         Judge::kAssigned},
    Form{"token variable", R"(\b[A-Z0-9_]*TOKEN=([^\s"']+))", Judge::kToken},
    Form{"secret assigned",
         R"((?i))" RAPIDEYE_NAME_START RAPIDEYE_SECRET_NAMES RAPIDEYE_SEPARATOR RAPIDEYE_VALUE,
         Judge::kAssigned},
    Form{"token assigned",
         R"((?i))" RAPIDEYE_NAME_START R"(token\\*["']?(?:=|:\s?\\*["']))"
         R"(\\*["']?([^\s"'\\:=<>(\[{&,;][^\s"'\\&,;)}\]]*))",
         Judge::kToken},
    Form{"token said", R"((?i))" RAPIDEYE_NAME_START R"(token)" RAPIDEYE_SEPARATOR RAPIDEYE_VALUE,
         Judge::kLooseToken},
};

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsLower(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }
bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); }

template <typename Predicate>
bool Any(absl::string_view text, Predicate predicate) {
  return std::any_of(text.begin(), text.end(), predicate);
}

// A capital at the beginning is how sentences begin.
bool LooksRandom(absl::string_view value) {
  if (value.empty()) return false;
  return Any(value, IsDigit) || (Any(value, IsLower) && Any(value.substr(1), IsUpper));
}

bool IsNothing(absl::string_view value) {
  constexpr std::array<absl::string_view, 12> kWords = {"null",  "none",  "nil",     "true",
                                                        "false", "yes",   "no",      "undefined",
                                                        "empty", "unset", "missing", "***"};
  const std::string lower = absl::AsciiStrToLower(value);
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

bool IsNumber(absl::string_view value) {
  double number = 0;
  return absl::SimpleAtod(absl::StripSuffix(value, "."), &number);
}

// An address, or a placeholder such as <unk>.
bool IsNoText(absl::string_view value) {
  if (absl::StartsWithIgnoreCase(value, "0x") && value.size() <= 18) return true;
  return absl::StrContains("<>[({%", value.front());
}

// The name in front of a token is one of a language model's, not of a service's.
bool IsTokenOfText(absl::string_view before) {
  constexpr std::array<absl::string_view, 26> kWords = {
      "pad",   "eos",   "bos",   "unk",    "sep",   "cls",     "mask",  "num",   "max",
      "min",   "per",   "next",  "last",   "first", "stop",    "end",   "start", "prompt",
      "image", "audio", "input", "output", "dummy", "special", "after", "prev"};
  const std::string lower = absl::AsciiStrToLower(before);
  const size_t token = lower.rfind("token");
  if (token == std::string::npos) return false;
  const absl::string_view name =
      absl::StripSuffix(absl::StripSuffix(absl::string_view(lower).substr(0, token), "_"), "-");
  return std::any_of(kWords.begin(), kWords.end(), [name](absl::string_view word) {
    if (!absl::EndsWith(name, word)) return false;
    const absl::string_view front = name.substr(0, name.size() - word.size());
    return front.empty() || !absl::ascii_isalnum(static_cast<unsigned char>(front.back()));
  });
}

bool IsPathName(absl::string_view before) {
  const std::string lower =
      absl::AsciiStrToLower(before.substr(before.size() - std::min<size_t>(before.size(), 24)));
  return absl::StrContains(lower, "credential") || absl::StrContains(lower, "pwd");
}

}  // namespace

#undef RAPIDEYE_NAME_START
#undef RAPIDEYE_SECRET_NAMES
#undef RAPIDEYE_SEPARATOR
#undef RAPIDEYE_VALUE

absl::Span<const Form> BuiltInForms() { return kForms; }

bool IsSecret(Judge judge, absl::string_view before, absl::string_view value) {
  if (value.empty()) return false;
  switch (judge) {
    case Judge::kSecret:
      return true;
    case Judge::kRandom:
      return LooksRandom(value) || value.back() == '=';
    case Judge::kAssigned:
      if (IsNothing(value) || value.front() == '<') return false;
      return value.front() != '/' || !IsPathName(before);
    case Judge::kToken:
      return !IsNothing(value) && !IsNumber(value) && !IsNoText(value) && !IsTokenOfText(before);
    case Judge::kLooseToken:
      return value.size() >= 8 && LooksRandom(value) && !IsNumber(value) && !IsNoText(value) &&
             !IsTokenOfText(before);
  }
  return true;
}

}  // namespace rapideye::secrets
