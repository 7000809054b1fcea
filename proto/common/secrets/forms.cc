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
  R"((?:passwords?|passwd|passphrase|pwd|secret[_-]?string|secrets?|credentials?|)"    \
  R"((?:db|smtp|mail|mysql|pg|postgres|redis|rabbitmq|mongo|ldap|ssh|sudo|become|)"    \
  R"(root|admin|user|proxy|registry|key|store)[_-]?pass|secret[_-]key[_-]base|)"       \
  R"((?:api[ ]|(?:api|access|private|secret|account|auth|encryption|signing|storage|)" \
  R"(master|fernet|license|subscription)[._-]?)key)"                                   \
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
    Form{
        "private key in PEM",
        R"((?s)-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10} ?-{4,5}(.+?)(?:-{4,5} ?END|\z))"},
    Form{"private key in PEM in base64",
         R"(\b(LS0tLS1CRUdJTiB(?:QUklWQVRF|SU0EgUFJJVkFU|FQyBQUklWQVRF|EU0EgUFJJVkFU|)"
         R"(PUEVOU1NIIFBS|FTkNSWVBURUQg|QR1AgUFJJVkFU)[A-Za-z0-9+/=_-]*))"},
    Form{"private key of PuTTY", R"(\bPrivate-Lines: \d+\s+([A-Za-z0-9+/=\s]{16,}))"},
    Form{"private key in JSON",
         R"(\\*["'](?:d|dp|dq|qi|p|q)\\*["']\s*:\s*\\*["']([A-Za-z0-9_-]{22,})\\*["'])",
         Judge::kRandom},
    Form{"user and password in a URL",
         R"(\b[A-Za-z][A-Za-z0-9+.-]*:\\{0,2}/\\{0,2}/([^\s/?#"'<>]*:[^\s/?#"'<>]+)@|)"
         R"((?i:%3A%2F%2F)([^\s/?#"'<>]*(?i:%3A)[^\s/?#"'<>]+)%40)"},
    // What follows the colon is no port, although a slash stands in it.
    Form{
        "password with a slash in a URL",
        R"(\b[A-Za-z][A-Za-z0-9+.-]*://([^\s/?#"'<>:@\[]*:[^\s/"'<>@]*[^\d\s/"'<>@][^\s/"'<>@]*/[^\s"'<>@]*)@)"},
    Form{"token in the place of a URL's user", R"((?i)\bhttps?://([A-Za-z0-9._~%+-]{16,})@)",
         Judge::kRandom},
    Form{"password of a database's address",
         R"([\w.-]:([^\s/?#"'<>:@]+)@(?:tcp|unix)\(|\bjdbc:oracle:\w+:[^\s/@]+/([^\s@]+)@|)"
         R"(\bsqlplus\s[^\n]*?[\w.-]+/([^\s@/]+)@|)"
         R"(\b[\w.-]+:5432:[^:\s]+:[^:\s]+:(\S+))"},
    // Parameters in quotes belong to it.
    Form{
        "Authorization header",
        R"((?i)\bauthorization\\*["']?\s*[:=,][\s\\]*["']?(?:bearer|basic|digest|negotiate|ntlm|)"
        R"(token|api-?key|key|oauth|signature|aws|aws4-hmac-sha256|sharedkey(?:lite)?|hawk|splunk)\\*\s+)"
        R"(((?:=\\*"[^"\\\r\n]*\\*"|[^"'\\\r\n])+))"},
    Form{"Authorization header of another scheme",
         R"((?i)\bauthorization\\*["']?\s*[:=,]\s*\\*["']?[a-z][\w-]{1,30}\s+([^\s"'\\,]{12,}))",
         Judge::kRandom},
    Form{"Authorization header without a scheme",
         R"((?i)\bauthorization\\*["']?\s*[:=,]\s*\\*["']?([A-Za-z0-9._~+/=-]{16,}))",
         Judge::kRandom},
    Form{"bearer token", R"((?i)\bbearer[\s:=]\s*([A-Za-z0-9._~+/=-]{12,}))", Judge::kRandom},
    Form{"basic authentication", R"((?i)\bbasic\s+([A-Za-z0-9+/_-]{8,}={0,2}))", Judge::kRandom},
    Form{"cookie", R"((?i)\b(?:set-)?cookie\\*["']?\s*[:=]\s*\\*["']?([\w.-]+=[^"'\\\r\n]+)|)"
                   R"(\bcurl\b[^\n]*?\s(?:-b|--cookie)[ =]?["']?[\w.-]+=([^\s"']+))"},
    Form{
        "identity of a session",
        R"((?i)(?:^|[^\w-])(?:(?:php|j|asp\.net_)?sess(?:ion)?_?id|connect\.sid|sid)\\*["']?\s{0,4})"
        R"((?:=|:|%3D)\s{0,4}\\*["']?([A-Za-z0-9%._+/]{16,}={0,2}))",
        Judge::kLooseToken},
    Form{"assertion of a login",
         R"((?i)\bsaml(?:response|request|assertion)=([A-Za-z0-9+/%=_-]{20,}))"},
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
    Form{
        "token of a service for models",
        R"(\b(jina_[A-Za-z0-9_-]{32,}|tvly-[A-Za-z0-9_-]{20,}|csk-[A-Za-z0-9]{40,}|)"
        R"(fw_[A-Za-z0-9]{22,}|pa-[A-Za-z0-9_-]{40,}|fc-[0-9a-f]{32}|e2b_[0-9a-f]{40}|)"
        R"(apify_api_[A-Za-z0-9]{30,}|EAACEdEose0cBA[A-Za-z0-9]+|gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|nvapi-[A-Za-z0-9_-]{40,}|)"
        R"(xai-[A-Za-z0-9]{40,}|tgp_v1_[A-Za-z0-9_-]{40,}|lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}))"},
    Form{"token of another service",
         R"(\b([sr]k_(?:live|test)_[A-Za-z0-9]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|)"
         R"(gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}|NRAK-[A-Z0-9]{20,}|lin_api_[A-Za-z0-9]{30,}|)"
         R"(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}|)"
         R"(ATATT3[A-Za-z0-9_=-]{40,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}))"},
    Form{
        "token of a service that builds and deploys",
        R"(\b(dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{30,}|(?:fo1|fm[12][ar]?)_[A-Za-z0-9+/=_-]{30,}|)"
        R"(sbp_[0-9a-f]{40}|nfp_[A-Za-z0-9]{30,}|pul-[0-9a-f]{40}|rubygems_[0-9a-f]{48}|)"
        R"(tskey-[a-z]+-[A-Za-z0-9-]{20,}|bkua_[0-9a-f]{40}|CCIPAT_[A-Za-z0-9_]{30,}|ATBB[A-Za-z0-9]{24,}|)"
        R"(HRKU-[A-Za-z0-9_-]{30,}|pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{30,}|pn[ub]_[A-Za-z0-9]{30,}|)"
        R"(sq[pua]_[0-9a-f]{40}|AKCp[A-Za-z0-9]{60,}|ABSK[A-Za-z0-9+/]{60,}={0,2}))"},
    Form{
        "token of a service for people, data or payment",
        R"(\b(whsec_[A-Za-z0-9+/=]{24,}|ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{40,}|)"
        R"(sntrys_[A-Za-z0-9_+/=-]{40,}|sntryu_[0-9a-f]{64}|figd_[A-Za-z0-9_-]{30,}|pplx-[A-Za-z0-9]{40,}|)"
        R"(KGAT_[0-9a-f]{32}|rpa_[A-Za-z0-9]{30,}|pcsk_[A-Za-z0-9_]{40,}|ph[cx]_[A-Za-z0-9]{32,}|)"
        R"(shippo_(?:live|test)_[0-9a-f]{40}|SK[0-9a-f]{32}|key-[0-9a-f]{32}|\d{8,10}:AA[A-Za-z0-9_-]{32,}|)"
        R"([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}))"},
    Form{"JSON web token", R"(\b(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*))"},
    Form{"JSON in base64, as Neptune's tokens", R"(\b(eyJ[A-Za-z0-9+/_-]{40,}={0,2}))"},
    Form{"key of OpenAI's and Anthropic's form", R"((?:^|[^\w.-])(sk-[A-Za-z0-9_-]{20,}))",
         Judge::kRandom},
    Form{
        "Weights & Biases key",
        R"(\b(wandb_v\d_[A-Za-z0-9_-]{16,}|local-[0-9a-f]{40})|\bwandb\s+login\s+(?:--\S+\s+)*([A-Za-z0-9_-]{20,}))"},
    Form{"npm and PyPI token", R"(\b(npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}))"},
    Form{"signed URL",
         R"((?i)\bX-(?:Goog|Amz)-(?:Signature|Security-Token|Credential)(?:=|%3D)([^&\s"'<>\\]+))"},
    Form{
        "signature in a URL",
        R"((?i)(?:[?&;~]|\\u0026|%26)(?:sig|signature|hmac|awsaccesskeyid|googleaccessid|key|jwt|pass)=)"
        R"(([^&\s"'<>\\]{8,}))"},
    Form{"token in the path of a URL",
         R"(://[^\s/"'<>]+/t/([A-Za-z0-9_-]{24,})/|/integration/([0-9a-f]{32})\b)", Judge::kRandom},
    Form{"login in a URL", R"((?i)[?&](?:auth|code)=([^&\s"'<>\\]{12,}))", Judge::kRandom},
    Form{"bearer token within a URL",
         R"((?i)(?:\b|%[0-9a-f]{2})(?:bearer|basic)(?:%20|\+)([A-Za-z0-9._~+/=%-]{12,}))",
         Judge::kRandom},
    // Colours of a terminal, brackets, entities of HTML or lines between a name and its secret.
    Form{"secret apart from its name",
         R"((?i))" RAPIDEYE_NAME_START R"((?:)" RAPIDEYE_SECRET_NAMES R"(|token))"
         R"(\\*["']?\]?(?:\x1b\[[\d;]*m)*[ \t]{0,8}(?:&(?:quot|#34|#61|equals);|={1,3}>?|:=?|\()+)"
         R"((?:\x1b\[[\d;]*m|&(?:quot|#34);|[ \t(\[{<,$"']|[|>][+-]?\s*\n|\r?\n){0,8})"
         R"(([A-Za-z0-9+_.~=-][A-Za-z0-9+/_.~=-]{7,}))",
         Judge::kLooseToken},
    Form{
        "name that may hold a secret",
        R"((?i)(?:^|[^\w./-])[\w.-]*(?:[_-]pat|bind_pw|default_pass|pass_?code|pin_?code|otp|auth|bearer|)"
        R"((?:auth|docker)_config|connection[_-]?string|functions-key|honeycomb-team|session|ticket)\\*["']?)"
        R"((?:[ \t]{0,8}(?:=>|[:=,])[ \t]{0,8}|\s)(?:basic(?:%20|\s))?\\*["']?([A-Za-z0-9+_=-]{20,}))",
        Judge::kLooseToken},
    Form{"secret within a URL within a URL",
         R"((?i)(?:token|password|passwd|secret|signature|api_?key)%3D([^&\s"'<>\\%]{4,}))"},
    Form{"docker's configuration", R"((?i)\\*"auth\\*"\s*:\s*\\*"([A-Za-z0-9+/=]{8,}))"},
    Form{"key in a kubeconfig", R"(\bclient-key-data\\*["']?:\s*\\*["']?([A-Za-z0-9+/=]{16,}))"},
    Form{
        "variable of a pod",
        R"((?i)\bname\\*["']?\s*[:=]\s*\\*["']?[\w.-]*(?:password|passwd|secret|token|api_?key|)"
        R"(access_?key)\\*["']?[\s,]+\\*["']?value\\*["']?\s*[:=]\s*\\*["']?([^\s"'\\,;}]+)|)"
        R"("value\\*":\s*\\*"([^"\\]+)\\*",\s*\\*"name\\*":\s*\\*"[\w.-]*(?:password|passwd|secret|token|api_?key)\b|)"
        R"x(\b(?:key|name)="[\w.-]*(?:password|passwd|secret|token|api_?key)"\s+value="([^"]+))x",
        Judge::kAssigned},
    Form{"element of XML",
         R"((?i)<[\w:.-]*(?:password|passwd|passphrase|secret|api_?key|access_?key)>([^<\s]+)</)",
         Judge::kAssigned},
    // Names of columns stand in such lists, too.
    Form{"pair of a name and a secret",
         R"((?i)["'][\w.-]*(?:password|passwd|passphrase|secret|api_?key|access_?key)["'],\s{0,4})"
         R"([bru]?["']([^"'\s]{6,})["'])",
         Judge::kRandom},
    // A command line as a list.
    Form{
        "pair of a flag and a secret",
        R"((?i)["']--?[\w.-]*(?:password|passwd|passphrase|secret|api_?key|access_?key|secret_?key|)"
        R"(token)["'],\s{0,4}[bru]?["']([^"'\n]+)["'])",
        Judge::kToken},
    Form{"password told",
         R"((?i)\b(?:password|passphrase|secret)\s(?:is:?|was:?|->)\s["'`]?([^\s"'`,;]{6,}))",
         Judge::kRandom},
    Form{
        "secret behind its name",
        R"((?i)\b[\w.-]*(?:secret[._-]?(?:access[._-]?)?key|api[_-]?key|password|passwd|_pass|rootpw))"
        R"((?:\s+->)?[\s\x00]+["']?([A-Za-z0-9+/_.=@!~-]{8,}))",
        Judge::kLooseToken},
    Form{"token behind its name",
         R"((?i)\b[\w.-]*(?:session_?token|access_?token|token|api[ _-]?key)[\s\x00]+["']?)"
         R"(([A-Za-z0-9+/_.=~-]{20,}))",
         Judge::kLooseToken},
    Form{"keys of a login in a map",
         R"(["'](?:access|refresh|pass)["']\s*:\s*["']([^\s"'\\]{8,})["'])", Judge::kLooseToken},
    Form{"user and password as a pair",
         R"((?i)auth\s*=?\s*\(\s*["'][^"'\n]*["']\s*,\s*["']([^"'\n]+)["'])"},
    Form{"variable of a service's key",
         R"(\b[A-Z][A-Z0-9_]*_(?:KEY|JWT)=["']?([A-Za-z0-9+/_=.-]{16,}))", Judge::kLooseToken},
    Form{"key of a storage account",
         R"(\baccount\.key\.[\w.-]+\s?[= ]\s?([A-Za-z0-9+/]{16,}={0,2}))"},
    Form{"password in SQL or a configuration",
         R"((?i)\bidentified\s+by\s+(?:password\s+)?\\*["']([^"'\n]+)|)"
         R"(\b(?:role|user|login|with|encrypted)\s[^\n;]{0,80}?\bpassword\s+\\*'([^'\n]+)|)"
         R"(\b(?:requirepass|masterauth)\s+["']?([^\s"']+))"},
    Form{"password of a user",
         R"((?i)\buser(?:name)?\\*["']?\s*[:=]\s*\\*["']?[^\s"',\\]+\\*["']?\s*,\s*\\*["']?)"
         R"((?:pass|key)\\*["']?\s*[:=]\s*\\*["']?([^\s"',)\\]+))",
         Judge::kAssigned},
    Form{"key of a login", R"((?i)\blogin\([^)\n]*?\bkey=["']([^"'\n]+))", Judge::kAssigned},
    Form{
        "key of a service",
        R"((?i)(?:^|[^\w./-])[\w.-]*(?:(?:application|app|wandb|hub|salt|consumer|unlock|routing|)"
        R"(service|integration|client|webhook|jwt|session)[._-]?key|secret[._-]?id|jfrog-art-api)\\*["']?\]?)"
        R"([ \t]{0,8}(?:=>|[:= ])[ \t]{0,8}\\*["']?([A-Za-z0-9+/_=-]{16,}))",
        Judge::kLooseToken},
    Form{"authorization of npm, redis-cli and sshpass",
         R"(\b_auth(?:Token)?\s?=\s?"?([A-Za-z0-9+/=_.-]{8,})|)"
         R"(\b(?:REDISCLI_AUTH|SSHPASS)=["']?([^\s"']+))"},
    Form{"password given to a command",
         R"(\s-pass(?:in|out)?\s+pass:(\S+)|\bopenssl\s+enc\b[^\n]*?\s-k\s+["']?([^\s"']+)|)"
         R"(\bmongo(?:sh|dump|restore|import|export)?\s[^\n]*?\s-p[ =]["']?([^\s"']+)|)"
         R"(\bsmbclient\b[^\n]*?\s-U[ =]?[^\s%]+%(\S+)|)"
         R"(\s--from-literal[= ][^\s=]+=["']?([^\s"']+)|)"
         R"(\bconfigure\s+set\s+aws_(?:secret_access_key|session_token)\s+(\S+))"},
    Form{"password of a here-string or a broker",
         R"(\b(?:sudo\s+-S|\w*stdin)\s*<<<\s*["']?([^\s"']+)|)"
         R"(\bmosquitto_\w+\b[^\n]*?\s-P\s*["']?([^\s"']+))"},
    Form{"password of an archive",
         R"(\b(?:un)?zip\b[^\n]*?\s-P[ =]?["']?([^\s"']+)|\b7z[az]?\b[^\n]*?\s-p["']?([^\s"']+))"},
    Form{
        "password of a tool for hosts and networks",
        R"(\bipmitool\b[^\n]*?\s-P\s*["']?([^\s"']+)|\bldap[a-z]+\b[^\n]*?\s-w\s*["']?([^\s"']+)|)"
        R"(\bsnmp[a-z]+\b[^\n]*?\s-[AX]\s*["']?([^\s"']+)|\bsamba-tool\s+user\s+\w+\s+\S+\s+([^\s-]\S*)|)"
        R"(\bnet\s+use\b[^\n]*?/user:\S+\s+([^\s/]\S*)|\bwpa_passphrase\s+\S+\s+(\S+)|)"
        R"(\buseradd\b[^\n]*?\s-p\s*["']?([^\s"']+))"},
    Form{
        "password of a tool for data",
        R"(\b(?:sqlcmd|bcp)\b[^\n]*?\s-P\s*["']?([^\s"']+)|\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+(\S+)|)"
        R"(\brabbitmqctl\s+(?:add_user|change_password)\s+\S+\s+["']?([^\s"']+)|)"
        R"(\brclone\s+obscure\s+["']?([^\s"']+)|\bmc\s+(?:alias\s+set|config\s+host\s+add)\s+\S+\s+\S+\s+\S+\s+(\S+)|)"
        R"(\bftp\b[^\n]*?\bPASS\s+(\S+)|\bIMAP\b[^\n]*?\bLOGIN\s+\S+\s+(\S+))"},
    Form{
        "password written into a pipe",
        R"(\becho\s+["']?[^\s"'|:]+:([^\s"'|]+)["']?\s*\|[^\n]*\bchpasswd\b|\bchpasswd:\s+\S+:(\S+)|)"
        R"(\becho\s+(?:-\w+\s+)*["']?([^\s"'|]+)["']?\s*\|[^\n]*(?:-stdin\b|\bsudo\s+-S)|)"
        R"(--password-command[ =]["']?echo\s+([^\s"']+))"},
    Form{
        "token given to a command",
        R"(\bvault\s+login\s+(?:-\S+\s+)*(?:token=)?([A-Za-z0-9._-]{8,})|)"
        R"(\bglab\b[^\n]*?\s-t[ =]([A-Za-z0-9_-]{8,})|\bconfig\s+set\s+apikey\s+(\S+)|)"
        R"(\bpoetry\s+config\s+pypi-token\.\S+\s+(\S+)|\bpoetry\s+config\s+http-basic\.\S+\s+\S+\s+(\S+))",
        Judge::kRandom},
    Form{"netrc", R"(\blogin\s+\S+\s+password\s+(\S+))"},
    Form{"user and password of curl",
         R"(\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?["']?[^\s:"']+:([^\s"']+))"},
    Form{"user and password of a flag",
         R"(\s--(?:[a-z]+-)*(?:auth|creds)[ =]["']?[^\s:"'/]+:([^\s"'@/]+)|)"
         R"(\b(?:https?|xh)\s[^\n:]*?-a[ =]?["']?[^\s:"'/]+:([^\s"'@/]+))",
         Judge::kAssigned},
    Form{"user of a flag", R"(\s--(?:[a-z]+-)*user[ =]["']?[^\s:"'/]+:([^\s"'@/]+))",
         Judge::kLooseToken},
    Form{"password of sshpass", R"(\bsshpass\s+-p\s*(\S+))"},
    Form{
        "password of a login to a registry or cluster",
        R"(\b(?:docker|podman|nerdctl|buildah|oras|oc|crane|helm|skopeo|az|argocd|cf)\b[^\n]*?\blogin\b)"
        R"([^\n]*?\s-p[ =]?["']?([^\s"']+)|\btwine\b[^\n]*?\s-p[ =]?["']?([^\s"']+))"},
    Form{"password of mysql", R"(\bmysql(?:dump|admin)?\b[^\n]*?\s-p["']?([^\s"']+))"},
    Form{"password of redis-cli", R"(\bredis-cli\b[^\n]*?\s(?:-a|--pass)[ =]?["']?([^\s"']+))"},
    // A value on a command line or of a variable ends where the next begins.
    Form{"secret flag",
         R"((?i)(?:^|[^\w-])--?[\w.-]*)" RAPIDEYE_SECRET_NAMES
         R"((?:=|[\s\x00]+)["']?([^\s"'\x00-][^\s"'\x00]*))",
         Judge::kAssigned},
    Form{"pass flag", R"((?:^|[^\w-])--pass(?:=|\s+)["']?([^\s"'-][^\s"']*))", Judge::kLooseToken},
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
  constexpr std::array<absl::string_view, 16> kWords = {
      "null",  "none",  "nil",     "true", "false", "yes",    "no",    "undefined",
      "empty", "unset", "missing", "***",  "str",   "string", "raise", "return"};
  const std::string lower = absl::AsciiStrToLower(value);
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// A variable or a placeholder of the same name ("--token TOKEN", "login(token=token)"), or the
// beginning of a line of code ("password = getpass.getpass()").
bool IsCode(absl::string_view before, absl::string_view value) {
  if (absl::EndsWith(before, "\"") || absl::EndsWith(before, "'")) return false;
  for (const absl::string_view begin :
       {"self.", "os.environ", "os.getenv(", "getpass.", "absl::"}) {
    if (absl::StartsWith(value, begin)) return true;
  }
  const auto is_word = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  while (!before.empty() && !is_word(before.back())) before.remove_suffix(1);
  const size_t end = std::find_if_not(value.begin(), value.end(), is_word) - value.begin();
  return end > 0 && absl::EndsWithIgnoreCase(before, value.substr(0, end)) &&
         Any(value.substr(end), [](char c) { return !absl::StrContains(")].,;", c); }) == false;
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

// "<the token>"
bool IsPlaceholder(absl::string_view value) {
  return value.front() == '<' && (value.size() == 1 || value.back() == '>');
}

// Behind names that stand before paths, too. "credentials: application default" is no secret.
bool IsPathOrWord(absl::string_view before, absl::string_view value) {
  const std::string lower =
      absl::AsciiStrToLower(before.substr(before.size() - std::min<size_t>(before.size(), 24)));
  const bool credential = absl::StrContains(lower, "credential");
  if (!credential && !absl::StrContains(lower, "pwd")) return false;
  return value.front() == '/' || (credential && !LooksRandom(value) &&
                                  std::all_of(value.begin(), value.end(), absl::ascii_isalpha));
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
      if (IsNothing(value) || IsPlaceholder(value) || IsCode(before, value)) return false;
      return !IsPathOrWord(before, value);
    case Judge::kToken:
      return !IsNothing(value) && !IsNumber(value) && !IsNoText(value) && !IsTokenOfText(before) &&
             !IsCode(before, value);
    case Judge::kLooseToken:
      return value.size() >= 8 && LooksRandom(value) && !IsNumber(value) && !IsNoText(value) &&
             !IsTokenOfText(before) && !IsCode(before, value);
  }
  return true;
}

}  // namespace rapideye::secrets
