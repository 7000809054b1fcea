// Holds style and script of the HTML page as constants, so that the page is one file.
#ifndef RAPIDEYE_DIGEST_HTML_ASSETS_H_
#define RAPIDEYE_DIGEST_HTML_ASSETS_H_

namespace rapideye::digest {

extern const char kPageStyle[];
// Draws the map from the JSON in element "map-data", shows the position under
// the pointer, sorts the table. Puts worker text into the page as text only.
extern const char kPageScript[];

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_HTML_ASSETS_H_
