#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/torch_pt/torch_pt_reader.h"
#include "pickle_mutator.h"
#include "stored_tensor_use.h"
#include "zip_members.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace msprobe;

void ReadFile(std::span<const std::byte> bytes) {
  if (!formats::LooksLikeTorchPt(bytes)) return;
  formats::TensorFileLimits limits;
  limits.max_inflated_bytes = 1 << 20;
  const auto tensor = formats::ReadTorchPt(bytes, limits);
  if (tensor.ok()) fuzz::UseTensor(*tensor);
}

bool IsBarePickle(std::string_view text) {
  return text.starts_with("P") && !text.starts_with("PK");
}

void Scribble(std::string* text) {
  const size_t size = text->size();
  text->resize(size + 8);
  text->resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text->data()), size, text->size()));
}

std::string Mutated(std::string_view text, std::mt19937* random) {
  if (IsBarePickle(text)) return "P" + fuzz::MutatePickle(text.substr(1), random);
  auto members = fuzz::ReadZip(std::as_bytes(std::span(text)));
  if (members.empty()) return fuzz::MutatePickle(text, random);
  hostile::ZipMember& member = members[(*random)() % members.size()];
  if ((*random)() % 4 == 0)
    fuzz::MutateMembers(&members, random);
  else if (member.name.ends_with(".pkl"))
    member.contents = fuzz::MutatePickle(member.contents, random);
  else
    Scribble(&member.contents);
  return fuzz::WriteZip(members);
}

}  // namespace

/// The input is a whole file; or, after the letter P, the pickle of a sound archive.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (IsBarePickle(text)) {
    const std::string pickle(text.substr(1));
    const std::string archive =
        fuzz::WriteZip({{"a/data.pkl", pickle},
                        {"a/data/0", std::string(64, 'x')},
                        {"a/byteorder", pickle.size() % 2 == 0 ? "little" : "big"}});
    ReadFile(std::as_bytes(std::span(archive)));
  } else {
    ReadFile(std::as_bytes(std::span(data, size)));
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::mt19937 random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned i = 1 + random() % 3; i > 0; --i) text = Mutated(text, &random);
  const size_t mutated = std::min(text.size(), max_size);
  std::copy_n(text.data(), mutated, reinterpret_cast<char*>(data));
  return mutated;
}
