// RUN: residency-opt --verify-diagnostics -p residency-undo-offload{slots=lost} %s

// expected-error@below {{no such slot, got: @lost}}
module {
}
