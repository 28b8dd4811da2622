#include "app/api_lists.h"

#include <algorithm>

namespace msprobe::app {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> FindApiLists() {
  std::error_code error;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  std::vector<fs::path> packages;
  if (prefix.filename() == "build") packages.push_back(prefix.parent_path() / "python" / "msprobe");
  for (fs::directory_iterator it(prefix / "lib", error), end; !error && it != end;
       it.increment(error)) {
    packages.push_back(it->path() / "site-packages" / "msprobe");
  }
  std::sort(packages.begin(), packages.end());
  std::vector<fs::path> lists;
  for (const fs::path& package : packages) {
    for (const char* framework : {"pytorch", "mindspore"}) {
      fs::path list = package / framework / "support_wrap_ops.yaml";
      if (fs::is_regular_file(list, error)) lists.push_back(std::move(list));
    }
  }
  if (lists.empty()) {
    return NotFoundError("the Python package is not beside this program",
                         "run the msprobe of the environment that the package is installed in",
                         prefix);
  }
  return lists;
}

}  // namespace msprobe::app
