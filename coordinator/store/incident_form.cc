#include "coordinator/store/incident_form.h"

#include "absl/strings/str_cat.h"
#include "coordinator/store/incident_files.h"
#include "digest/render_html.h"

namespace rapideye::coordinator {

const char* FileOf(IncidentForm form) {
  switch (form) {
    case IncidentForm::kText:
      return kTextFile;
    case IncidentForm::kJson:
      return kJsonFile;
    case IncidentForm::kHtml:
      return kHtmlFile;
    case IncidentForm::kCapture:
      return kCaptureFile;
    case IncidentForm::kHooks:
      return kHooksFile;
  }
  return kCaptureFile;
}

std::string RenderAs(const digest::Report& report, IncidentForm form, digest::TextFormat format) {
  switch (form) {
    case IncidentForm::kText:
      return digest::RenderText(report, format);
    case IncidentForm::kJson:
      return absl::StrCat(digest::RenderJson(report, /*pretty=*/true), "\n");
    case IncidentForm::kHtml:
      return digest::RenderHtml(report);
    case IncidentForm::kCapture:
    case IncidentForm::kHooks:
      break;
  }
  return "";
}

}  // namespace rapideye::coordinator
