#include "compare/tensor_compare.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "compare/tolerance.h"
#include "formats/tensor_file.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

namespace msprobe::compare {

namespace {

std::span<const int64_t> ShapeOf(const RecordedTensor& tensor) {
  return {tensor.record->extents.data() + tensor.value->shape_begin, tensor.value->shape_size};
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text + "]";
}

/// numpy has no bfloat16, fp8 and complex32: such tensors lie in .npy files as float32, complex64.
bool DTypeMayBe(DType recorded, DType stored, std::string_view data_name) {
  if (recorded == stored) return true;
  if (!data_name.ends_with(".npy")) return false;
  if (recorded == DType::kComplex32) return stored == DType::kComplex64;
  const bool widened = recorded == DType::kBFloat16 || tensor::IsFloat8(recorded);
  return widened && stored == DType::kFloat32;
}

Status CheckAgainstRecord(const formats::StoredTensor& stored, const RecordedTensor& tensor) {
  constexpr auto kSpelling = tensor::DTypeSpelling::kNumpy;
  const dump::Value& value = *tensor.value;
  if (!DTypeMayBe(value.dtype, stored.dtype, value.data_name)) {
    return CorruptError("the file holds " +
                        std::string(tensor::DTypeName(stored.dtype, kSpelling)) +
                        ", dump.json says " + std::string(value.dtype_text));
  }
  const auto shape = ShapeOf(tensor);
  if (!std::equal(shape.begin(), shape.end(), stored.shape.begin(), stored.shape.end())) {
    return CorruptError("the file holds shape " + ShapeText(stored.shape) + ", dump.json says " +
                        ShapeText(shape));
  }
  return Status::Ok();
}

Result<formats::StoredTensor> OpenChecked(const RecordedTensor& tensor) {
  MSPROBE_ASSIGN_OR_RETURN(const auto path, tensor.dump->TensorPath(tensor.value->data_name));
  auto stored = formats::OpenTensorFile(path);
  if (!stored.ok()) return std::move(stored).status().WithPath(path.string());
  Status status = CheckAgainstRecord(*stored, tensor);
  if (!status.ok()) return std::move(status).WithPath(path.string());
  return stored;
}

Status Named(const Status& status, const RecordedTensor& tensor) {
  return {status.code(),
          std::string(tensor.side) + " tensor " + std::string(tensor.value->data_name) + ": " +
              status.fact(),
          status.advice(), status.path()};
}

}  // namespace

uint64_t RecordedElements(const RecordedTensor& tensor) {
  uint64_t count = 1;
  bool overflow = false;
  for (const int64_t extent : ShapeOf(tensor)) {
    if (extent <= 0) return 0;
    overflow |= __builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count);
  }
  return overflow ? UINT64_MAX : count;
}

bool CompareTensorFiles(const RecordedTensor& target, const RecordedTensor& golden, size_t threads,
                        const base::CancelToken* cancel, stats::PairMetrics* metrics,
                        std::vector<Status>* unreadable) {
  const auto target_file = OpenChecked(target);
  if (!target_file.ok()) unreadable->push_back(Named(target_file.status(), target));
  const auto golden_file = OpenChecked(golden);
  if (!golden_file.ok()) unreadable->push_back(Named(golden_file.status(), golden));
  if (!target_file.ok() || !golden_file.ok()) return false;
  const auto compared =
      stats::ComparePair(target_file->view(), golden_file->view(), threads, cancel,
                         Coarser(target.value->dtype, golden.value->dtype));
  if (compared.status().code() == StatusCode::kCancelled) return false;
  if (!compared.ok()) {
    unreadable->push_back(Named(compared.status(), target));
    return false;
  }
  *metrics = *compared;
  return true;
}

}  // namespace msprobe::compare
