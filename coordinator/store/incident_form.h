// IncidentForm names the documents of an incident; RenderAs makes those that are its digest.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_FORM_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_FORM_H_

#include <string>

#include "digest/digest.h"

namespace rapideye::coordinator {

enum class IncidentForm { kText, kJson, kHtml, kCapture, kHooks };

// The file in an incident's directory that holds this form.
const char* FileOf(IncidentForm form);

// The digest as kText, kJson or kHtml, as it is stored; `format` is of the text. Empty for the
// forms that are no digest.
std::string RenderAs(const digest::Report& report, IncidentForm form, digest::TextFormat format);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_FORM_H_
