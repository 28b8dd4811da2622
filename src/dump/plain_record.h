#pragma once

#include <string_view>

#include "dump/record.h"

namespace msprobe::dump {

/// Fills an empty record, whose direction is known, from an entry of dump.json as collecting writes
/// nearly all of them, in one pass and without a list of tokens. False, with some values in the
/// record, for all else: ReadRecord() decides about it. What is taken gives the same record there.
/// `text` must be followed by 64 readable bytes.
bool ReadPlainRecord(std::string_view text, Record* record);

}  // namespace msprobe::dump
