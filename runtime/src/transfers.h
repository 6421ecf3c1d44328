// The transfers in flight, by number. A number says slot, place and generation, so that a stale one
// is recognised and named.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "event.h"
#include "residency/runtime.h"

namespace residency {

// Not thread-safe: the engine's lock protects it.
class Transfers {
 public:
  static constexpr int kSlotBits = 20, kPlaceBits = 18;

  residency_transfer add(residency_slot slot, EventRef done) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    uint32_t place = free_.back();
    free_.pop_back();
    Entry& entry = entries_[place];
    entry.done = std::move(done);
    entry.live = true;
    return (entry.generation << (kSlotBits + kPlaceBits)) | (uint64_t{place} << kSlotBits) | slot;
  }

  // Ends the transfer and gives its event; nothing if it has ended before or never was.
  std::optional<EventRef> remove(residency_transfer transfer) {
    uint64_t place = (transfer >> kSlotBits) & ((1u << kPlaceBits) - 1);
    if (place >= entries_.size()) return std::nullopt;
    Entry& entry = entries_[place];
    if (!entry.live || entry.generation != transfer >> (kSlotBits + kPlaceBits))
      return std::nullopt;
    entry.live = false;
    entry.generation = (entry.generation + 1) & ((1u << (64 - kSlotBits - kPlaceBits)) - 1);
    free_.push_back(static_cast<uint32_t>(place));
    return std::move(entry.done);
  }

  bool full() const { return free_.empty() && entries_.size() >> kPlaceBits != 0; }

  static residency_slot slot_of(residency_transfer transfer) {
    return static_cast<residency_slot>(transfer & ((1u << kSlotBits) - 1));
  }

 private:
  struct Entry {
    uint64_t generation = 1;
    EventRef done;
    bool live = false;
  };
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
};

}  // namespace residency
