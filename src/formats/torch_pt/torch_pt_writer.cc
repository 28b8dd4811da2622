#include "formats/torch_pt/torch_pt_writer.h"

#include <span>
#include <string>

#include "formats/byte_order.h"
#include "formats/pickle/opcodes.h"
#include "formats/shape_check.h"
#include "formats/torch_pt/storage_types.h"
#include "formats/zip/zip_writer.h"
#include "tensor/dtype.h"
#include "tensor/gather.h"

namespace msprobe::formats {

namespace {

/// Large enough for AtomicFile to write from the tensor's memory, without a copy.
constexpr size_t kWriteBlock = 1 << 20;

/// Writes the pickle program of one tensor, in the opcodes that weights_only loading knows.
class ProgramWriter {
 public:
  void Put(Opcode opcode) { program_ += static_cast<char>(opcode); }

  void Protocol() {
    Put(Opcode::kProto);
    program_ += '\x02';
  }

  void Global(std::string_view module, std::string_view name) {
    Put(Opcode::kGlobal);
    program_ += module;
    program_ += '\n';
    program_ += name;
    program_ += '\n';
  }

  void Text(std::string_view text) {
    Put(Opcode::kBinUnicode);
    AppendLittle(static_cast<uint32_t>(text.size()), &program_);
    program_ += text;
  }

  void Integer(int64_t value) {
    if (value >= 0 && value <= UINT8_MAX) {
      Put(Opcode::kBinInt1);
      AppendLittle(static_cast<uint8_t>(value), &program_);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
      Put(Opcode::kBinInt);
      AppendLittle(static_cast<uint32_t>(value), &program_);
    } else {
      Put(Opcode::kLong1);
      program_ += '\x08';
      AppendLittle(static_cast<uint64_t>(value), &program_);
    }
  }

  void Tuple(std::span<const int64_t> values) {
    Put(Opcode::kMark);
    for (const int64_t value : values) Integer(value);
    Put(Opcode::kTuple);
  }

  std::string Take() { return std::move(program_); }

 private:
  std::string program_;
};

std::string TensorProgram(DType dtype, std::span<const int64_t> shape, int64_t count) {
  const std::string_view storage = StorageName(dtype);
  const bool untyped = storage.empty();
  ProgramWriter program;
  program.Protocol();
  program.Global("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  program.Put(Opcode::kMark);
  program.Put(Opcode::kMark);
  program.Text("storage");
  if (untyped) {
    program.Global("torch.storage", "UntypedStorage");
  } else {
    program.Global("torch", storage);
  }
  program.Text("0");
  program.Text("cpu");
  program.Integer(untyped ? count * static_cast<int64_t>(ElementSize(dtype)) : count);
  program.Put(Opcode::kTuple);
  program.Put(Opcode::kBinPersId);
  program.Integer(0);
  program.Tuple(shape);
  program.Tuple(ContiguousStrides(shape, false));
  program.Put(Opcode::kNewFalse);  // requires_grad
  program.Global("collections", "OrderedDict");
  program.Put(Opcode::kEmptyTuple);
  program.Put(Opcode::kReduce);
  if (untyped) {
    constexpr size_t kPrefix = std::string_view("torch.").size();
    const auto name = tensor::DTypeName(dtype, tensor::DTypeSpelling::kTorch);
    program.Global("torch", name.substr(kPrefix));
  }
  program.Put(Opcode::kTuple);
  program.Put(Opcode::kReduce);
  program.Put(Opcode::kStop);
  return program.Take();
}

}  // namespace

Status WriteTorchPt(const TensorView& view, std::string_view name, base::AtomicFile* file) {
  if (view.dtype == DType::kUnknown) {
    return InvalidArgumentError("a tensor of unknown dtype cannot be written as .pt");
  }
  const std::string root = std::string(name.empty() ? "archive" : name) + "/";
  const int64_t count = ElementCount(view.shape);
  ZipWriter zip(file);
  MSPROBE_RETURN_IF_ERROR(zip.Add(root + "data.pkl", TensorProgram(view.dtype, view.shape, count)));
  MSPROBE_RETURN_IF_ERROR(zip.Add(root + "byteorder", "little"));
  MSPROBE_RETURN_IF_ERROR(
      zip.Begin(root + "data/0", static_cast<uint64_t>(count) * ElementSize(view.dtype)));
  tensor::BlockReader reader(view, kWriteBlock);
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    MSPROBE_RETURN_IF_ERROR(zip.Append(block));
  }
  MSPROBE_RETURN_IF_ERROR(zip.End());
  MSPROBE_RETURN_IF_ERROR(zip.Add(root + "version", "3\n"));
  return zip.Finish();
}

}  // namespace msprobe::formats
