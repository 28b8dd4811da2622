#include "base/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace msprobe::base {
namespace {

using Queue = BoundedQueue<std::unique_ptr<int>>;
using std::chrono::milliseconds;

TEST(BoundedQueueTest, GivesItemsInOrder) {
  Queue queue(100, 1, milliseconds(0));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(queue.Push(std::make_unique<int>(i), 1, true), Queue::PushResult::kPushed);
  }
  std::vector<std::unique_ptr<int>> items;
  ASSERT_TRUE(queue.PopAll(&items));
  ASSERT_EQ(items.size(), 5u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*items[static_cast<size_t>(i)], i);
}

TEST(BoundedQueueTest, FullKeepsTheItem) {
  Queue queue(10, 10, milliseconds(0));
  EXPECT_EQ(queue.Push(std::make_unique<int>(1), 8, false), Queue::PushResult::kPushed);
  auto item = std::make_unique<int>(2);
  EXPECT_EQ(queue.Push(std::move(item), 3, false), Queue::PushResult::kFull);
  EXPECT_NE(item, nullptr);
  std::vector<std::unique_ptr<int>> items;
  ASSERT_TRUE(queue.PopAll(&items));
  EXPECT_EQ(queue.Push(std::move(item), 3, false), Queue::PushResult::kFull);  // not done yet
  queue.Done(1, 8);
  EXPECT_EQ(queue.Push(std::move(item), 3, false), Queue::PushResult::kPushed);
}

TEST(BoundedQueueTest, AnItemHeavierThanTheCapacityPassesAlone) {
  Queue queue(10, 10, milliseconds(0));
  EXPECT_EQ(queue.Push(std::make_unique<int>(1), 1000, false), Queue::PushResult::kPushed);
  EXPECT_EQ(queue.Push(std::make_unique<int>(1), 1, false), Queue::PushResult::kFull);
}

TEST(BoundedQueueTest, ClosedQueueGivesWhatIsLeft) {
  Queue queue(10, 10, milliseconds(10000));
  EXPECT_EQ(queue.Push(std::make_unique<int>(1), 1, true), Queue::PushResult::kPushed);
  queue.Close();
  EXPECT_EQ(queue.Push(std::make_unique<int>(2), 1, true), Queue::PushResult::kClosed);
  std::vector<std::unique_ptr<int>> items;
  EXPECT_TRUE(queue.PopAll(&items));
  EXPECT_EQ(items.size(), 1u);
  queue.Done(1, 1);
  EXPECT_FALSE(queue.PopAll(&items));
}

TEST(BoundedQueueTest, ManyProducersWaitAndLoseNothing) {
  BoundedQueue<int> queue(50, 20, milliseconds(10000));
  constexpr int kThreads = 8;
  constexpr int kItems = 2000;
  std::vector<std::thread> producers;
  for (int t = 0; t < kThreads; ++t) {
    producers.emplace_back([&queue, t] {
      for (int i = 0; i < kItems; ++i) {
        EXPECT_EQ(queue.Push(t * kItems + i, 7, true), BoundedQueue<int>::PushResult::kPushed);
      }
    });
  }
  std::vector<int> last(kThreads, -1);
  size_t seen = 0;
  std::thread consumer([&] {
    std::vector<int> items;
    while (queue.PopAll(&items)) {
      for (const int item : items) {
        int& previous = last[static_cast<size_t>(item / kItems)];
        EXPECT_GT(item % kItems, previous);
        previous = item % kItems;
      }
      EXPECT_LE(items.size(), 50u / 7);
      seen += items.size();
      queue.Done(items.size(), 7 * items.size());
    }
  });
  for (std::thread& producer : producers) producer.join();
  queue.Flush();
  EXPECT_EQ(seen, static_cast<size_t>(kThreads * kItems));
  queue.Close();
  consumer.join();
}

}  // namespace
}  // namespace msprobe::base
