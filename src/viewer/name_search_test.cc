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

/// Whether the parts stand in the names from the outermost box on, the last one in the last name.
bool MatchesPath(const visfile::SideIndex& side, uint32_t id,
                 const std::vector<std::string>& parts) {
  std::vector<std::string> names;
  for (; id != 0; id = side.parents[id])
    names.insert(names.begin(), Lower(std::string(side.names[id])));
  // Any number of the first parts may stand around: the rest is in the name.
  std::vector<bool> around(parts.size(), false);
  around[0] = true;
  const auto holds = [&](const std::string& name, size_t from, size_t to) {
    std::string query = "*";
    for (size_t i = from; i < to; ++i) query += parts[i] + "*";
    return Matches(name, query);
  };
  for (size_t level = 0; level + 1 < names.size(); ++level) {
    for (size_t to = parts.size(); to-- > 1;) {
      for (size_t from = 0; from < to; ++from) {
        if (around[from] && holds(names[level], from, to)) around[to] = true;
      }
    }
  }
  for (size_t from = 0; from < parts.size(); ++from) {
    if (around[from] && holds(names.back(), from, parts.size())) return true;
  }
  return false;
}

/// Sides whose nodes hang below others at random; most golden ones have a partner of their name.
TEST(NameSearchTest, FindsAlongThePath) {
  const std::vector<std::string> names = Names(45'000);
  visfile::SideIndex target;
  visfile::SideIndex golden;
  std::mt19937 random(3);
  for (visfile::SideIndex* side : {&target, &golden}) {
    for (uint32_t id = 0; id < names.size(); ++id) {
      side->Add(names[id]);
      if (id > 0) side->parents[id] = (id - 1) / (2 + random() % 4);
      if (side == &golden && random() % 5 != 0) side->partners[id] = id;
    }
    side->Complete(1);
  }
  NameSearch there(target);
  NameSearch shared(golden, &there);
  const std::vector<std::vector<std::string>> queries = {
      {"qq", "ab"}, {"q", "q", "c."}, {"abc", "q"}, {"aaaa", "b"}, {"bbb", "ccc", "aaa", "q"},
      {"zz", "a"},  {"a", "zz"}};
  for (const auto& parts : queries) {
    std::string query = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) query += "*" + parts[i];
    for (const size_t threads : {1, 4}) {
      for (const bool is_target : {true, false}) {
        const visfile::SideIndex& side = is_target ? target : golden;
        std::vector<uint32_t> expected;
        for (const uint32_t id : side.order) {
          if (id != 0 && MatchesPath(side, id, parts)) expected.push_back(id);
        }
        EXPECT_EQ((is_target ? there : shared).Find(query, 0, names.size(), threads).ids, expected)
            << query;
      }
    }
  }
}

}  // namespace
}  // namespace msprobe::viewer
