// What a dump says of itself beside its records, and what becomes of those that come too late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/scratch_directory_fixture.h"
#include "dump/dump_writer_fixture.h"

namespace msprobe {
namespace {

namespace fs = std::filesystem;
using dump::fixture::AddPlain;
using dump::fixture::MustOpen;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DumpWriterNotesTest : public dump::fixture::WritesDumps {};

TEST_F(DumpWriterNotesTest, WithoutADirectoryNothingIsOpened) {
  DumpWriterOptions options = Options();
  options.dump_path.clear();
  const auto writer = DumpWriter::Open(options);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.status().ToString(), "dump_path is empty; give the directory for the dumps");
}

TEST_F(DumpWriterNotesTest, ProblemsAndNotesAreInTheFiles) {
  auto writer = MustOpen(Options());
  RecordBuilder builder;
  EXPECT_EQ(AddPlain(writer.get(), &builder, "Torch.add.0.forward"), AddResult::kAdded);
  writer->ReportProblem("Torch.add.0.forward", "its second output has no memory");
  writer->AddNote("3 errors \"elsewhere\"");
  EXPECT_EQ(writer->Finish().recorded, 1u);
  const fs::path unit = root_ / "step0" / "rank0";
  const std::string log = base::FileText(unit / "dump_error_info.log");
  EXPECT_THAT(log, HasSubstr("Torch.add.0.forward"));
  EXPECT_THAT(log, HasSubstr("its second output has no memory"));
  EXPECT_THAT(base::FileText(unit / "ledger.json"), HasSubstr(R"("3 errors \"elsewhere\"")"));
}

TEST_F(DumpWriterNotesTest, WhatComesAfterCloseIsLostAndCounted) {
  auto writer = MustOpen(Options());
  RecordBuilder builder;
  EXPECT_EQ(AddPlain(writer.get(), &builder, "Torch.add.0.forward"), AddResult::kAdded);
  writer->Close();
  EXPECT_EQ(AddPlain(writer.get(), &builder, "Torch.add.1.forward"), AddResult::kClosed);
  EXPECT_EQ(builder.text(), "") << "ready for the next record";
  EXPECT_FALSE(writer->accepts_tensors());
  writer->ReportProblem("Torch.add.1.forward", "too late");
  const DumpCounts counts = writer->Finish();
  EXPECT_EQ(counts.recorded, 1u);
  EXPECT_EQ(counts.lost, 1u);
  EXPECT_EQ(counts.seen, 2u);
  EXPECT_THAT(base::FileText(root_ / "step0" / "rank0" / "dump.json"),
              AllOf(HasSubstr("Torch.add.0.forward"), Not(HasSubstr("Torch.add.1.forward"))));
  writer->AddNote("too late");
  EXPECT_THAT(base::FileText(root_ / "step0" / "rank0" / "ledger.json"),
              Not(HasSubstr("too late")));
}

}  // namespace
}  // namespace msprobe
