#include "arena.h"

#include <algorithm>
#include <string>

#include "status.h"

namespace residency {

Arena::~Arena() {
  for (auto& [capacity, blocks] : free_) {
    for (Block& block : blocks) device_.free_host(block.memory);
  }
}

Block Arena::take(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);  // an empty tensor's buffer has an address, too
  // A block a quarter too large serves as well: sizes that differ a little from step to step share
  // memory.
  for (auto list = free_.lower_bound(bytes);
       list != free_.end() && list->first <= bytes + bytes / 4; ++list) {
    if (list->second.empty()) continue;
    Block block = std::move(list->second.back());
    list->second.pop_back();
    in_use_ += block.capacity;
    in_use_peak_ = std::max(in_use_peak_, in_use_);
    return block;
  }
  trim(bytes);
  Block block;
  block.capacity = bytes;
  block.memory = device_.allocate_host(block.capacity);
  if (!block.memory) {
    throw Error(RESIDENCY_OUT_OF_MEMORY,
                "no host memory for a slot, bytes: " + std::to_string(bytes));
  }
  ++allocations_;
  held_ += block.capacity;
  in_use_ += block.capacity;
  in_use_peak_ = std::max(in_use_peak_, in_use_);
  return block;
}

void Arena::give_back(Block block) {
  in_use_ -= block.capacity;
  free_[block.capacity].push_back(std::move(block));
}

// Keeps what is held under twice what was ever needed at once, whatever sizes come.
void Arena::trim(size_t needed) {
  uint64_t limit = 2 * std::max<uint64_t>(in_use_peak_, in_use_ + needed);
  for (auto list = free_.begin(); list != free_.end() && held_ + needed > limit;) {
    auto& blocks = list->second;
    while (!blocks.empty() && held_ + needed > limit && device_.done(blocks.back().busy)) {
      device_.free_host(blocks.back().memory);
      held_ -= list->first;
      blocks.pop_back();
    }
    list = blocks.empty() ? free_.erase(list) : std::next(list);
  }
}

}  // namespace residency
