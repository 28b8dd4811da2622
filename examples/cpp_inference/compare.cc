// Compares two recorded ranks without the command line: usage: cpp_compare TARGET GOLDEN
// Both are directories that hold dump.json. Ends with 1 if the two diverge.

#include <msprobe/compare.h>
#include <msprobe/dump_reader.h>

#include <iostream>
#include <string>

namespace {

/// What the call made, by its statistics.
void PrintOutputs(const msprobe::DumpReader& dump, const std::string& name, const char* side) {
  const size_t entry = dump.Find(name);
  if (entry == msprobe::DumpReader::kNone) return;
  const auto record = dump.Read(entry);
  if (!record.ok()) return;
  for (const msprobe::DumpValue& value : record->values) {
    if (value.section != msprobe::DumpValue::Section::kOutput || !value.norm) continue;
    std::cout << "  " << side << ' ' << value.key << ": max " << value.max.value_or(0) << ", norm "
              << *value.norm << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: cpp_compare TARGET GOLDEN\n";
    return 2;
  }
  const auto compared = msprobe::CompareDumps(argv[1], argv[2]);
  const auto target = msprobe::DumpReader::Open(argv[1]);
  const auto golden = msprobe::DumpReader::Open(argv[2]);
  for (const msprobe::Status& status : {compared.status(), target.status(), golden.status()}) {
    if (status.ok()) continue;
    std::cerr << status.ToString() << '\n';
    return 2;
  }
  std::cout << compared->matched << " of " << compared->nodes << " nodes matched, "
            << compared->differing.size() << " differ\n";
  for (const std::string& name : compared->culprits) {
    std::cout << "culprit: " << name << '\n';
    PrintOutputs(**target, name, "target");
    PrintOutputs(**golden, name, "golden");
  }
  return compared->culprits.empty() ? 0 : 1;
}
