// Reads and writes tensor files as told on standard input, one command a line, fields separated by
// tabs; answers each with one line. test_tensor_files.py compares with what torch and numpy say.
//   read FILE            → dtype, shape, CRC-32 of the contiguous values
//   write npy|pt IN OUT  → "written"
// or "error", the code, and the text.

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/crc32.h"
#include "base/file.h"
#include "formats/npy/npy_writer.h"
#include "formats/shape_check.h"
#include "formats/tensor_file.h"
#include "formats/torch_pt/torch_pt_writer.h"
#include "tensor/dtype.h"
#include "tensor/gather.h"

namespace msprobe {
namespace {

std::vector<std::string> SplitTabs(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

Result<std::string> Read(const std::string& path) {
  MSPROBE_ASSIGN_OR_RETURN(const formats::StoredTensor tensor, formats::OpenTensorFile(path));
  uint32_t crc = 0;
  tensor::BlockReader reader(tensor.view());
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    crc = base::Crc32(crc, block);
  }
  char digits[9];
  std::snprintf(digits, sizeof(digits), "%08x", crc);
  return std::string(tensor::DTypeName(tensor.dtype, tensor::DTypeSpelling::kTorch)) + "\t" +
         formats::ShapeText(tensor.shape) + "\t" + digits;
}

Result<std::string> Write(const std::string& kind, const std::string& in, const std::string& out) {
  MSPROBE_ASSIGN_OR_RETURN(const formats::StoredTensor tensor, formats::OpenTensorFile(in));
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile file, base::AtomicFile::Create(out));
  if (kind == "npy") {
    MSPROBE_RETURN_IF_ERROR(formats::WriteNpy(tensor.view(), &file));
  } else {
    MSPROBE_RETURN_IF_ERROR(formats::WriteTorchPt(tensor.view(), "", &file));
  }
  MSPROBE_RETURN_IF_ERROR(file.Commit());
  return std::string("written");
}

Result<std::string> Answer(const std::vector<std::string>& fields) {
  if (fields.size() == 2 && fields[0] == "read") return Read(fields[1]);
  if (fields.size() == 4 && fields[0] == "write") return Write(fields[1], fields[2], fields[3]);
  return InvalidArgumentError("unknown command");
}

}  // namespace
}  // namespace msprobe

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto answer = msprobe::Answer(msprobe::SplitTabs(line));
    if (answer.ok()) {
      std::cout << answer.value() << "\n";
    } else {
      std::cout << "error\t" << msprobe::StatusCodeName(answer.status().code()) << "\t"
                << answer.status().ToString() << "\n";
    }
  }
  return 0;
}
