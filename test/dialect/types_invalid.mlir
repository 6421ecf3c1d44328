// RUN: residency-opt --split-input-file --verify-diagnostics %s

// expected-error@below {{expected 1 type arguments, but had 0}}
func.func private @host_of_nothing_is_rejected(!residency.host)

// -----

// expected-error@below {{expected 1 type arguments, but had 2}}
func.func private @host_of_two_is_rejected(!residency.host<tensor<4xf32>, tensor<4xf32>>)

// -----

// expected-error@below {{expected 1 type arguments, but had 0}}
func.func private @pending_of_nothing_is_rejected(!residency.pending)

// -----

// expected-error@below {{expected dynamic type}}
func.func private @misspelt_type_is_rejected(!residency.hots<tensor<4xf32>>)
