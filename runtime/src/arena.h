// Host memory for slots. Memory that comes back is kept, so that a step like the last one asks the
// system for none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "device.h"
#include "event.h"

namespace residency {

struct Block {
  void* memory = nullptr;
  size_t capacity = 0;
  EventRef
      busy;  // done when nothing in flight uses the memory any more; only then may it be written
};

// Not thread-safe: the engine's lock protects it.
class Arena {
 public:
  explicit Arena(Device& device) : device_(device) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A block of at least `bytes`, perhaps still busy. Throws OUT_OF_MEMORY.
  Block take(size_t bytes);
  void give_back(Block block);

  // Bytes held, in use or not.
  uint64_t held() const { return held_; }
  // Times that memory was asked for.
  uint64_t allocations() const { return allocations_; }

 private:
  void trim(size_t needed);

  Device& device_;
  std::map<size_t, std::vector<Block>>
      free_;  // by capacity; empty lists stay, so that reuse makes no nodes
  uint64_t held_ = 0, in_use_ = 0, in_use_peak_ = 0, allocations_ = 0;
};

}  // namespace residency
