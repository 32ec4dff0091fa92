#include "remede/pages/web.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>

#include "remede/base/error.h"

namespace remede {
namespace {

TEST(Web, BytesAreLittleEndianInBase64) {
  EXPECT_EQ(base64(std::span<const float>()), "");
  EXPECT_EQ(base64(std::vector<float>{1.0F}), "AACAPw==");
  EXPECT_EQ(base64(std::vector<float>{1.0F, -2.0F, 0.5F}), "AACAPwAAAMAAAAA/");
  EXPECT_EQ(base64(std::vector<std::int32_t>{-1, 258}), "/////wIBAAA=");
}

TEST(Web, NothingEndsAScript) {
  EXPECT_EQ(script_safe(R"({"a": "</script><!--"})"), R"({"a": "\u003c/script>\u003c!--"})");
}

TEST(Web, PagesAreFilledOnce) {
  const std::string page =
      filled_page("explorer.html", {{"title", "{{model}}"}, {"inks", ""}, {"model", "MODEL"}, {"page", "PAGE"}});
  EXPECT_NE(page.find("<title>{{model}}</title>"), std::string::npos) << "what is filled in is not filled again";
  EXPECT_NE(page.find(">MODEL</script>"), std::string::npos);
  EXPECT_NE(page.find("function runModel"), std::string::npos) << "files are included";
  EXPECT_THROW(filled_page("explorer.html", {}), Error) << "a name that is neither given nor a file";
}

TEST(Web, FilesLoadNothing) {
  EXPECT_GT(web_files().size(), 10U);
  for (const WebFile& file : web_files())
    for (const char* const forbidden : {"https://", "fetch(", "XMLHttpRequest", "import(", "@import", "url("}) {
      std::string text(file.text);
      if (file.name == "live.html")  // the page of a server: it asks that server alone
        for (const std::string own : {"fetch(`recent?", "fetch(\"status\")"})
          text.replace(text.find(own), own.size(), "");
      EXPECT_EQ(text.find(forbidden), std::string::npos) << file.name << " has " << forbidden;
    }
}

}  // namespace
}  // namespace remede
