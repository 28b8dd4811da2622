#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "hostile/zip_builder.h"

namespace msprobe::fuzz {

/// The members of an archive, decompressed; none if it is not sound.
std::vector<hostile::ZipMember> ReadZip(std::span<const std::byte> bytes);
/// An archive with right sizes, places and checksums, but for the lies that members tell: a fuzzer
/// does not find those numbers by itself.
std::string WriteZip(std::vector<hostile::ZipMember> members);
/// Renames, removes, doubles or compresses a member, or lets it tell a lie.
void MutateMembers(std::vector<hostile::ZipMember>* members, std::mt19937* random);

}  // namespace msprobe::fuzz
