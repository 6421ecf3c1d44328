// RUN: residency-opt --verify-diagnostics -p residency-tag-layers{min-ops=0} %s

// expected-error@below {{min-ops must be at least 1, got: 0}}
module {
}
