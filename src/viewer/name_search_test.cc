#include "viewer/name_search.h"

#include <gtest/gtest.h>

#include <random>

namespace msprobe::viewer {
namespace {

/// Names of few letters, so that most queries have hits; "Q" is rare.
std::vector<std::string> Names(size_t count) {
  std::mt19937 random(1);
  std::vector<std::string> names(count);
  for (std::string& name : names) {
    for (size_t i = 0, size = random() % 12; i < size; ++i) {
      name.push_back(random() % 500 == 0 ? 'Q' : "abC."[random() % 4]);
    }
  }
  return names;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Whether the query says so of the name, letter by letter: `*` is any text, at both ends too.
bool Matches(std::string_view name, std::string_view query) {
  if (query.empty()) return true;
  if (query.front() == '*') {
    if (Matches(name, query.substr(1))) return true;
    return !name.empty() && Matches(name.substr(1), query);
  }
  return !name.empty() && name.front() == query.front() && Matches(name.substr(1), query.substr(1));
}

TEST(NameSearchTest, FindsWhatALookAtEveryNameFinds) {
  const std::vector<std::string> names = Names(70'000);
  visfile::SideIndex side;
  for (const std::string& name : names) side.parents[side.Add(name)] = 0;
  side.Complete(1);
  NameSearch search(side);
  for (const std::string query :
       {"a", "Q", "qa", "abc", "CBA.", "a.b.c.a.b.", "zz", "..", "bq", "aaa", "a*b", "b*q", "q*.*c",
        "ab*cz", "c*c*c", "b.*b.", "*", "**"}) {
    std::vector<uint32_t> expected;
    for (const uint32_t id : side.order) {
      if (id != 0 && Matches(Lower(names[id]), "*" + Lower(query) + "*")) expected.push_back(id);
    }
    for (const size_t threads : {1, 4}) {
      const NameSearch::Page all = search.Find(query, 0, names.size(), threads);
      EXPECT_EQ(all.ids, expected) << query;
      EXPECT_EQ(all.total, expected.size()) << query;
      const NameSearch::Page page = search.Find(query, 3, 5, threads);
      EXPECT_EQ(page.total, expected.size()) << query;
      for (size_t i = 0; i < page.ids.size(); ++i) EXPECT_EQ(page.ids[i], expected[3 + i]);
      EXPECT_EQ(page.ids.size(),
                std::min<size_t>(5, expected.size() - std::min<size_t>(3, expected.size())));
    }
  }
}

/// Sides whose nodes partly have partners, some of the same name.
TEST(NameSearchTest, FindsNamesThatBothSidesHaveOnBoth) {
  std::vector<std::string> names = Names(30'000);
  visfile::SideIndex target;
  visfile::SideIndex golden;
  std::mt19937 random(2);
  for (const std::string& name : names) target.parents[target.Add(name)] = 0;
  for (std::string& name : names) {
    if (random() % 4 == 0) name += "bq";
    golden.parents[golden.Add(name)] = 0;
  }
  for (uint32_t id = 1; id < names.size(); ++id) {
    if (random() % 3 != 0) golden.partners[id] = random() % 5 != 0 ? id : id / 2 + 1;
  }
  target.Complete(1);
  golden.Complete(1);
  NameSearch there(target);
  NameSearch shared(golden, &there);
  NameSearch alone(golden);
  for (const std::string query : {"a", "bq", "Q", "abc", "zz", "a*b", "c.", "*"}) {
    for (const size_t threads : {1, 4}) {
      const NameSearch::Page expected = alone.Find(query, 2, 50, threads);
      const NameSearch::Page known = there.Find(query, 0, 10, threads);
      for (const NameSearch::Page* first :
           {static_cast<const NameSearch::Page*>(nullptr), &known}) {
        const NameSearch::Page found = shared.Find(query, 2, 50, threads, first);
        EXPECT_EQ(found.total, expected.total) << query;
        EXPECT_EQ(found.ids, expected.ids) << query;
        EXPECT_EQ(found.marks, expected.marks) << query;
      }
    }
  }
}

}  // namespace
}  // namespace msprobe::viewer
