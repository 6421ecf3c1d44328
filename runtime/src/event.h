// A point in a stream's work that other streams can wait for. Events are pooled: a step makes none.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace residency {

class EventPool;

// Devices derive from it and add what they need to find the point again.
struct Event {
  virtual ~Event() = default;
  std::atomic<int> references{0};
  EventPool* pool = nullptr;
};

// Shared ownership of an event. Empty means: done long ago.
class EventRef {
 public:
  EventRef() = default;
  explicit EventRef(Event* event) : event_(event) { retain(); }
  EventRef(const EventRef& other) : event_(other.event_) { retain(); }
  EventRef(EventRef&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  EventRef& operator=(EventRef other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~EventRef() { reset(); }

  Event* get() const { return event_; }
  explicit operator bool() const { return event_ != nullptr; }
  inline void reset();

 private:
  void retain() {
    if (event_) event_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Event* event_ = nullptr;
};

// Where events come from and go back to. Outlives them.
class EventPool {
 public:
  template <class T>
  T* take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) {
      auto made = std::make_unique<T>();
      made->pool = this;
      free_.reserve(all_.size() + 1);  // giving back must not allocate
      all_.push_back(std::move(made));
      return static_cast<T*>(all_.back().get());
    }
    Event* event = free_.back();
    free_.pop_back();
    return static_cast<T*>(event);
  }

  void give_back(Event* event) {
    std::lock_guard lock(mutex_);
    free_.push_back(event);
  }

 private:
  std::mutex mutex_;
  std::deque<std::unique_ptr<Event>> all_;
  std::vector<Event*> free_;
};

void EventRef::reset() {
  Event* event = std::exchange(event_, nullptr);
  if (event && event->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    event->pool->give_back(event);
  }
}

}  // namespace residency
