#include "formats/torch_pt/tensor_recipe.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "formats/byte_order.h"
#include "formats/shape_check.h"
#include "formats/torch_pt/storage_types.h"
#include "tensor/dtype.h"

namespace msprobe::formats {

namespace {

using Kind = PickleNode::Kind;

constexpr std::string_view kUtils = "torch._utils";
constexpr std::string_view kTensorModule = "torch._tensor";

/// The functions that torch calls to make a tensor; the number is that of the required arguments.
struct Rebuild {
  std::string_view module;
  std::string_view name;
  size_t arguments;
  bool wraps;  ///< makes a tensor of another one
};
constexpr std::array<Rebuild, 6> kRebuilds = {{
    {kUtils, "_rebuild_tensor", 4, false},
    {kUtils, "_rebuild_tensor_v2", 6, false},
    {kUtils, "_rebuild_tensor_v3", 7, false},
    {kUtils, "_rebuild_parameter", 3, true},
    {kUtils, "_rebuild_parameter_with_state", 4, true},
    {kTensorModule, "_rebuild_from_type_v2", 4, true},
}};

const Rebuild* FindRebuild(std::string_view module, std::string_view name) {
  for (const Rebuild& rebuild : kRebuilds) {
    if (rebuild.module == module && rebuild.name == name) return &rebuild;
  }
  return nullptr;
}

Status Malformed(std::string_view what) {
  return CorruptError("malformed .pt pickle: " + std::string(what), "write the file again");
}

DType DTypeOfGlobal(const PickleNode& node) {
  if (node.kind != Kind::kGlobal || node.text != "torch") return DType::kUnknown;
  return tensor::ParseDType("torch." + std::string(node.name));
}

const Rebuild* RebuildOfCall(const PickleDocument& document, const PickleNode& node) {
  if (node.kind != Kind::kCall) return nullptr;
  const PickleNode& callable = document[node.items[0]];
  return FindRebuild(callable.text, callable.name);
}

/// The arguments of a call; the reader made sure that they are a tuple.
const std::vector<uint32_t>& ArgumentsOf(const PickleDocument& document, const PickleNode& call) {
  return document[call.items[1]].items;
}

/// All calls that make a tensor, each once, without going into them.
std::vector<uint32_t> TensorCalls(const PickleDocument& document) {
  std::vector<bool> seen(document.nodes.size());
  std::vector<uint32_t> open = {document.root};
  std::vector<uint32_t> calls;
  while (!open.empty()) {
    const uint32_t index = open.back();
    open.pop_back();
    if (seen[index]) continue;
    seen[index] = true;
    if (RebuildOfCall(document, document[index]) != nullptr) {
      calls.push_back(index);
    } else if (document[index].kind != Kind::kPersistentId) {
      open.insert(open.end(), document[index].items.begin(), document[index].items.end());
    }
  }
  return calls;
}

Status ReadInteger(const PickleNode& node, std::string_view what, int64_t* value) {
  if (node.kind == Kind::kBigInteger) {
    return Malformed("the " + std::string(what) + " overflows 64 bits");
  }
  if (node.kind != Kind::kInteger) return Malformed("the " + std::string(what) + " is no integer");
  *value = node.integer;
  return Status::Ok();
}

/// A tuple or a torch.Size.
Status ReadIntegers(const PickleDocument& document, uint32_t index, std::string_view what,
                    std::vector<int64_t>* values) {
  const PickleNode* node = &document[index];
  if (node->kind == Kind::kCall && document[node->items[0]].name == "Size" &&
      ArgumentsOf(document, *node).size() == 1) {
    node = &document[ArgumentsOf(document, *node)[0]];
  }
  if (node->kind != Kind::kTuple && node->kind != Kind::kList) {
    return Malformed("the " + std::string(what) + " is no tuple");
  }
  values->resize(node->items.size());
  for (size_t i = 0; i < values->size(); ++i) {
    MSPROBE_RETURN_IF_ERROR(ReadInteger(document[node->items[i]], what, &(*values)[i]));
  }
  return Status::Ok();
}

/// The "conj" and "neg" bits.
Status ReadMetadata(const PickleDocument& document, const PickleNode& node, TensorRecipe* recipe) {
  if (node.kind == Kind::kNone) return Status::Ok();
  if (node.kind != Kind::kDict) return Malformed("the tensor's metadata is no dict");
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const PickleNode& key = document[node.items[i]];
    const PickleNode& value = document[node.items[i + 1]];
    if (key.kind != Kind::kText || value.kind != Kind::kBool) continue;
    if (key.text == "conj") recipe->conjugate = value.integer != 0;
    if (key.text == "neg") recipe->negative = value.integer != 0;
  }
  if (recipe->conjugate && !tensor::IsComplex(recipe->dtype)) {
    return Malformed("the conjugate bit on a dtype that is not complex");
  }
  return Status::Ok();
}

/// Goes through parameters and subclass wrappers to the call that names the storage.
Status Unwrap(const PickleDocument& document, uint32_t index, const PickleNode** function,
              const std::vector<uint32_t>** arguments) {
  constexpr int kMaxWrappers = 16;
  *function = nullptr;
  for (int depth = 0; depth < kMaxWrappers; ++depth) {
    const PickleNode& call = document[index];
    if (*function == nullptr) {
      if (RebuildOfCall(document, call) == nullptr) return Malformed("a tensor is missing");
      if (call.has_state) {
        return UnsupportedError("tensor with a state of its own", "store a plain torch.Tensor");
      }
      *function = &document[call.items[0]];
      *arguments = &ArgumentsOf(document, call);
    }
    const Rebuild* rebuild = FindRebuild((*function)->text, (*function)->name);
    if (rebuild == nullptr) {
      return UnsupportedError(
          "tensor made by " + std::string((*function)->text) + "." + std::string((*function)->name),
          "store a plain torch.Tensor");
    }
    if ((*arguments)->size() < rebuild->arguments) return Malformed("arguments are missing");
    if (!rebuild->wraps) return Status::Ok();
    if (rebuild->name != "_rebuild_from_type_v2") {
      index = (**arguments)[0];
      *function = nullptr;
      continue;
    }
    // (function, type, its arguments, state)
    const PickleNode& inner = document[(**arguments)[2]];
    if (document[(**arguments)[0]].kind != Kind::kGlobal || inner.kind != Kind::kTuple) {
      return Malformed("a tensor subclass without its tensor");
    }
    *function = &document[(**arguments)[0]];
    *arguments = &inner.items;
  }
  return Malformed("parameters inside parameters without end");
}

/// The strides of dimensions that have one index or none mean nothing: they become 1, so that no
/// later computation can overflow with them.
Status CheckWindow(TensorRecipe* recipe) {
  if (recipe->strides.size() != recipe->shape.size()) {
    return Malformed("shape and strides have different lengths");
  }
  if (recipe->offset < 0) return Malformed("negative storage offset");
  const bool empty =
      std::find(recipe->shape.begin(), recipe->shape.end(), 0) != recipe->shape.end();
  for (size_t i = 0; i < recipe->strides.size(); ++i) {
    if (recipe->strides[i] < 0) return Malformed("negative stride");
    if (empty || recipe->shape[i] == 1) recipe->strides[i] = 1;
  }
  return Status::Ok();
}

/// One past the last element of the storage that the tensor touches, as far as 64 bits go.
uint64_t EndOfWindow(const TensorRecipe& recipe) {
  auto last = static_cast<uint64_t>(recipe.offset);
  for (size_t i = 0; i < recipe.shape.size(); ++i) {
    if (recipe.shape[i] == 0) return 0;
    uint64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(recipe.shape[i] - 1),
                               static_cast<uint64_t>(recipe.strides[i]), &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return UINT64_MAX;
    }
  }
  return last == UINT64_MAX ? last : last + 1;
}

Result<TensorRecipe> ReadRecipe(const PickleDocument& document, uint32_t index,
                                const TensorFileLimits& limits) {
  const PickleNode* function = nullptr;
  const std::vector<uint32_t>* arguments = nullptr;
  MSPROBE_RETURN_IF_ERROR(Unwrap(document, index, &function, &arguments));
  const auto argument = [&](size_t i) -> const PickleNode& { return document[(*arguments)[i]]; };

  TensorRecipe recipe;
  MSPROBE_ASSIGN_OR_RETURN(recipe.storage, ReadStorageReference(document, argument(0)));
  MSPROBE_RETURN_IF_ERROR(ReadInteger(argument(1), "storage offset", &recipe.offset));
  MSPROBE_RETURN_IF_ERROR(ReadIntegers(document, (*arguments)[2], "shape", &recipe.shape));
  MSPROBE_RETURN_IF_ERROR(ReadIntegers(document, (*arguments)[3], "stride", &recipe.strides));
  recipe.dtype = recipe.storage.dtype;
  size_t metadata = 6;
  if (function->name == "_rebuild_tensor_v3") {
    recipe.dtype = DTypeOfGlobal(argument(6));
    if (recipe.dtype == DType::kUnknown) return Malformed("the dtype is none");
    metadata = 7;
  }
  if (arguments->size() > metadata) {
    MSPROBE_RETURN_IF_ERROR(ReadMetadata(document, argument(metadata), &recipe));
  }
  MSPROBE_RETURN_IF_ERROR(CheckShape(recipe.shape, limits));
  MSPROBE_RETURN_IF_ERROR(CheckWindow(&recipe));
  return recipe;
}

}  // namespace

bool IsTorchGlobal(std::string_view module, std::string_view name) {
  if (FindRebuild(module, name) != nullptr) return true;
  if (module == "torch") {
    return name == "Size" || name == "Tensor" || StorageDType(module, name).has_value() ||
           tensor::ParseDType("torch." + std::string(name)) != DType::kUnknown;
  }
  if (module == "collections") return name == "OrderedDict";
  if (module == "torch.nn.parameter") return name == "Parameter" || name == "Buffer";
  return StorageDType(module, name).has_value();
}

Result<StorageReference> ReadStorageReference(const PickleDocument& document,
                                              const PickleNode& node) {
  if (node.kind != Kind::kPersistentId) return Malformed("a tensor without a storage");
  const PickleNode& id = document[node.items[0]];
  if (id.kind != Kind::kTuple || id.items.size() < 5) return Malformed("a storage without an id");
  const auto part = [&](size_t i) -> const PickleNode& { return document[id.items[i]]; };
  if (part(0).kind != Kind::kText || part(0).text != "storage") {
    return UnsupportedError("the pickle refers to something else than a storage",
                            "store a plain torch.Tensor");
  }
  const std::optional<DType> dtype =
      part(1).kind == Kind::kGlobal ? StorageDType(part(1).text, part(1).name) : std::nullopt;
  if (!dtype || part(2).kind != Kind::kText) return Malformed("a storage without type or key");
  if (id.items.size() > 5 && part(5).kind != Kind::kNone) {
    return UnsupportedError("storage that is a view of another one (torch before 0.4)",
                            "load it with torch and store the tensor again");
  }
  StorageReference storage{.key = part(2).text, .dtype = *dtype};
  MSPROBE_RETURN_IF_ERROR(ReadInteger(part(4), "storage size", &storage.element_count));
  if (storage.element_count < 0) return Malformed("negative storage size");
  return storage;
}

Result<TensorRecipe> FindTensor(const PickleDocument& document, const TensorFileLimits& limits) {
  const std::vector<uint32_t> calls = TensorCalls(document);
  if (calls.size() != 1) {
    return UnsupportedError(calls.empty()
                                ? "the .pt file holds no tensor"
                                : "the .pt file holds " + std::to_string(calls.size()) + " tensors",
                            "give a file with exactly one tensor");
  }
  return ReadRecipe(document, calls[0], limits);
}

Status BuildTensor(TensorRecipe recipe, std::span<const std::byte> storage, bool big_endian,
                   StoredTensor* tensor) {
  const auto claimed = static_cast<uint64_t>(recipe.storage.element_count);
  if (claimed > storage.size() / ElementSize(recipe.storage.dtype)) {
    return CorruptError("the storage of the .pt file has " + std::to_string(storage.size()) +
                            " bytes, less than the " + std::to_string(claimed) +
                            " elements that it should hold",
                        "write the file again");
  }
  storage = storage.first(claimed * ElementSize(recipe.storage.dtype));
  const size_t element_size = ElementSize(recipe.dtype);
  if (EndOfWindow(recipe) > storage.size() / element_size) {
    return CorruptError(
        "the storage of the .pt file holds " + std::to_string(storage.size() / element_size) +
            " elements: shorter than its tensor of shape " + ShapeText(recipe.shape) + " needs",
        "write the file again");
  }
  if (big_endian && element_size > 1) {
    const size_t word = tensor::IsComplex(recipe.dtype) ? element_size / 2 : element_size;
    tensor->owned = ReverseWords(storage, word);
    storage = tensor->owned;
  }
  const bool empty = EndOfWindow(recipe) == 0;
  tensor->data = storage.data() + (empty ? 0 : static_cast<uint64_t>(recipe.offset) * element_size);
  tensor->dtype = recipe.dtype;
  tensor->conjugate = recipe.conjugate;
  tensor->negative = recipe.negative;
  tensor->shape = std::move(recipe.shape);
  tensor->strides = std::move(recipe.strides);
  return Status::Ok();
}

}  // namespace msprobe::formats
