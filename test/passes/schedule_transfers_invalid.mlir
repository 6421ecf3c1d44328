// RUN: residency-opt --verify-diagnostics -p residency-schedule-transfers{inflight=-1} %s

// expected-error@below {{inflight must not be negative, got: -1}}
module {
}
