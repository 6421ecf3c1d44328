// Checks for C++ tests: a failed one says where and what, and the test goes on to the next case.
#pragma once

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace check {

struct Case {
  const char* name;
  std::function<void()> body;
};
inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
inline int failures = 0;
struct Register {
  Register(const char* name, std::function<void()> body) {
    cases().push_back({name, std::move(body)});
  }
};
inline void fail(const char* file, int line, const std::string& what) {
  ++failures;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}
inline int run() {
  for (const Case& each : cases()) {
    int before = failures;
    each.body();
    std::printf("%s %s\n", failures == before ? "ok  " : "FAIL", each.name);
  }
  if (cases().empty()) fail(__FILE__, __LINE__, "no cases");
  return failures != 0;
}

}  // namespace check

#define TEST(name)                                           \
  static void name();                                        \
  static const check::Register register_##name(#name, name); \
  static void name()
#define CHECK(condition) \
  ((condition) ? (void)0 : check::fail(__FILE__, __LINE__, "not true: " #condition))
#define CHECK_EQ(a, b)                                                                  \
  do {                                                                                  \
    auto left = (a);                                                                    \
    auto right = (b);                                                                   \
    if (!(left == static_cast<decltype(left)>(right)))                                  \
      check::fail(__FILE__, __LINE__,                                                   \
                  #a " is " + std::to_string(left) + ", not " + std::to_string(right)); \
  } while (false)
#define CHECK_OK(call)    \
  ((call) == RESIDENCY_OK \
       ? (void)0          \
       : check::fail(__FILE__, __LINE__, std::string(#call ": ") + residency_last_error()))
#define CHECK_FAILS(call, code, part)                                                           \
  do {                                                                                          \
    if ((call) != (code)) check::fail(__FILE__, __LINE__, "other status: " #call);              \
    if (!std::strstr(residency_last_error(), part))                                             \
      check::fail(__FILE__, __LINE__, std::string("other message: ") + residency_last_error()); \
  } while (false)
