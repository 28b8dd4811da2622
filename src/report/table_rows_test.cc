#include "report/table_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/dumps_fixture.h"
#include "report/csv_table.h"
#include "report/html_page.h"
#include "report/table_columns.h"
#include "report/unit_details.h"
#include "report/xlsx_table.h"

namespace msprobe::report {
namespace {

using compare::TestDump;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Field(std::string_view text) {
  std::string out;
  AppendCsvText(text, &out);
  return out;
}

TEST(CsvText, FieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(Field(""), "");
  EXPECT_EQ(Field("Module.a.forward.0"), "Module.a.forward.0");
  EXPECT_EQ(Field("[2, 3]"), "\"[2, 3]\"");
  EXPECT_EQ(Field("a\"b"), "\"a\"\"b\"");
}

TEST(CsvText, FormulasAreDefused) {
  for (const char* text : {"=1+1", "+1", "-1", "@a"}) {
    EXPECT_EQ(Field(text), std::string("\"'") + text + "\"");
  }
  EXPECT_EQ(Field("a=1"), "a=1");
}

TEST(CsvText, ARowIsALine) {
  EXPECT_EQ(Field("a\nb\rc\td"), "a b\\x0dc d");
  EXPECT_EQ(Field("\x1b[31m"), "\\x1b[31m");
}

TEST(HtmlText, MarkupIsEscaped) {
  std::string out;
  AppendHtml("<a href=\"x\">'&\xff", &out);
  EXPECT_EQ(out, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\xEF\xBF\xBD");
}

std::string Tensor(double norm) {
  const std::string n = std::to_string(norm);
  return R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": )" + n +
         R"(, "Min": 0, "Mean": )" + n + R"(, "Norm": )" + n + R"(, "requires_grad": false})";
}

std::string Call(double in, double out) {
  return R"({"input_args": [)" + Tensor(in) + R"(], "input_kwargs": {}, "output": [)" +
         Tensor(out) + "]}";
}

/// target: a, extra, c. golden: first, a, b, c.
class TableTest : public testing::Test {
 protected:
  TableTest() {
    target_.Add("Torch.a.0.forward", "", Call(1, 1));
    target_.Add("Torch.extra.0.forward", "", Call(1, 1));
    target_.Add("Torch.c.0.forward", "", Call(1, 3));
    golden_.Add("Torch.first.0.forward", "", Call(1, 1));
    golden_.Add("Torch.a.0.forward", "", Call(1, 1));
    golden_.Add("Torch.b.0.forward", "", Call(1, 1));
    golden_.Add("Torch.c.0.forward", "", Call(1, 1));
    const auto target = target_.Build();
    const auto golden = golden_.Build();
    base::Diagnostics diagnostics;
    auto match = graph::MatchGraphs(*target, *golden, {});
    auto compared = compare::Compare(target, golden, std::move(match).value(),
                                     compare::CompareMode::kStatistics, {}, &diagnostics);
    comparison_ = std::move(compared).value();
    divergences_ = compare::FindDivergences(&comparison_);
  }

  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    const TableRows rows(comparison_);
    rows.ForEach(0, rows.size(), [&](const TableRow& row) {
      lines.push_back(std::string(row.target_node) + "|" + std::string(row.golden_node) + "|" +
                      std::string(ResultWord(comparison_, row)));
    });
    return lines;
  }

  TestDump target_{"target"};
  TestDump golden_{"golden"};
  compare::Comparison comparison_;
  compare::DivergenceReport divergences_;
};

TEST_F(TableTest, GoldenNodesStandWhereTheyRan) {
  EXPECT_THAT(
      Lines(),
      ElementsAre("|Torch.first.0.forward|unmatched", "|Torch.first.0.forward|unmatched",
                  "Torch.a.0.forward|Torch.a.0.forward|pass",
                  "Torch.a.0.forward|Torch.a.0.forward|pass", "|Torch.b.0.forward|unmatched",
                  "|Torch.b.0.forward|unmatched", "Torch.extra.0.forward||unmatched",
                  "Torch.extra.0.forward||unmatched", "Torch.c.0.forward|Torch.c.0.forward|pass",
                  "Torch.c.0.forward|Torch.c.0.forward|error"));
}

TEST_F(TableTest, PartsOfTheRowsAreTheWhole) {
  const TableRows rows(comparison_);
  size_t together = 0;
  size_t apart = 0;
  rows.ForEach(0, rows.size(), [&](const TableRow&) { ++together; });
  for (size_t i = 0; i < rows.size(); ++i) {
    rows.ForEach(i, i + 1, [&](const TableRow&) { ++apart; });
  }
  EXPECT_EQ(together, 10U);
  EXPECT_EQ(apart, together);
}

TEST_F(TableTest, EveryRowHasACellForEachColumn) {
  for (const auto mode : {compare::CompareMode::kStatistics, compare::CompareMode::kRealData,
                          compare::CompareMode::kMd5, compare::CompareMode::kStructure}) {
    comparison_.mode = mode;
    const TableRows rows(comparison_);
    RowCells cells(comparison_);
    rows.ForEach(0, rows.size(), [&](const TableRow& row) {
      EXPECT_EQ(cells.Fill(row).size(), ColumnNames(mode).size());
    });
  }
}

TEST_F(TableTest, AWorkbookGoesOnOnFurtherSheets) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("rows_" + std::to_string(::getpid()) + ".xlsx");
  auto file = base::AtomicFile::Create(path);
  ASSERT_TRUE(file.ok());
  // 3 rows of a sheet are its header and two more: 10 rows need 5 sheets.
  const auto rows = WriteXlsx(TableRows(comparison_), nullptr, &*file, 3);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ(*rows, 10U);
  ASSERT_TRUE(file->Commit().ok());
  const auto bytes = base::ReadSmallFile(path, 1 << 20);
  ASSERT_TRUE(bytes.ok());
  EXPECT_THAT(*bytes, HasSubstr("xl/worksheets/sheet5.xml"));
  EXPECT_EQ(bytes->find("xl/worksheets/sheet6.xml"), std::string::npos);
  std::filesystem::remove(path);
}

TEST_F(TableTest, AWorkbookTakesTextsThatGrowWhenTheyAreEscaped) {
  for (std::string& reason : comparison_.reasons) reason.assign(32'000, '\x1b');
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("long_" + std::to_string(::getpid()) + ".xlsx");
  auto file = base::AtomicFile::Create(path);
  ASSERT_TRUE(file.ok());
  const auto rows = WriteXlsx(TableRows(comparison_), nullptr, &*file);
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
}

TEST_F(TableTest, APageShowsTheFirstRowsThatDoNotPass) {
  const std::string few = HtmlRows(TableRows(comparison_));
  EXPECT_THAT(few, HasSubstr("Torch.extra.0.forward"));
  EXPECT_THAT(few, HasSubstr("<td class=\"error\">error</td>"));
  EXPECT_THAT(few, testing::Not(HasSubstr("Torch.a.0.forward"))) << "it passes";
  EXPECT_THAT(few, testing::Not(HasSubstr(" more")));

  TestDump wide("wide");
  for (int i = 0; i < 600; ++i) {  // two rows each
    wide.Add("Torch.w." + std::to_string(i) + ".forward", "", Call(1, 1));
  }
  const auto target = wide.Build();
  const auto golden = golden_.Build();
  base::Diagnostics diagnostics;
  auto match = graph::MatchGraphs(*target, *golden, {});
  ASSERT_TRUE(match.ok());
  const auto compared = compare::Compare(target, golden, std::move(match).value(),
                                         compare::CompareMode::kStatistics, {}, &diagnostics);
  ASSERT_TRUE(compared.ok());
  const std::string many = HtmlRows(TableRows(*compared));
  // 1200 rows of the target and 8 of golden.
  EXPECT_THAT(many, HasSubstr("<p>and 208 more: the csv table has them all</p>"));
  size_t rows = 0;
  for (size_t at = many.find("<tr><td"); at != std::string::npos; at = many.find("<tr><td", at + 1))
    ++rows;
  EXPECT_EQ(rows, kHtmlRows);
}

TEST_F(TableTest, ACancelledWorkbookLeavesNothing) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("no_" + std::to_string(::getpid()) + ".xlsx");
  base::CancelToken cancel;
  cancel.Cancel();
  {
    auto file = base::AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(WriteXlsx(TableRows(comparison_), &cancel, &*file).status().code(),
              StatusCode::kCancelled);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(TableTest, DetailsNameWhatIsCounted) {
  UnitSummary summary;
  SummarizeComparison(comparison_, divergences_, &summary);
  const UnitDetails details = CollectDetails(comparison_, divergences_, summary);
  ASSERT_EQ(details.culprits.size(), 1U);
  EXPECT_EQ(details.culprits[0].name, "Torch.c.0.forward");
  std::vector<std::string> skipped;
  for (const NotCompared& node : details.not_compared) {
    skipped.push_back((node.golden ? "golden " : "target ") + node.name);
  }
  EXPECT_THAT(skipped, ElementsAre("target Torch.extra.0.forward", "golden Torch.first.0.forward",
                                   "golden Torch.b.0.forward"));
  EXPECT_EQ(OverallVerdict({&summary, 1}), Verdict::kDiverged);
}

}  // namespace
}  // namespace msprobe::report
