#pragma once

#include <string_view>

#include "dump/record.h"
#include "formats/json/json_tape.h"
#include "msprobe/status.h"

namespace msprobe::dump {

Direction DirectionOf(std::string_view entry_name);

/// Empties `record`, and fills in what the name says.
void StartRecord(std::string_view entry_name, Record* record);

/// Fills `record` from one parsed entry of dump.json's "data". Views of the record point into the
/// text that the tape was parsed from. Errors: Corrupt.
Status ReadRecord(std::string_view entry_name, const formats::JsonTape& tape, Record* record);

/// The same of debug.json, whose entries are values: "value", or "value.0.key" inside of one.
/// `record` is empty.
Status ReadValueRecord(const formats::JsonTape& tape, Record* record);

}  // namespace msprobe::dump
