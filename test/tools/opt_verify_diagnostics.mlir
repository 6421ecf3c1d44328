// Every form of expectation that mlir-opt knows.
// RUN: residency-opt --split-input-file --verify-diagnostics -p residency-check-placed %s

// expected-error@+1 {{op cannot leave the device (why), got tier: host}}
"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "host", stays = "why"} : () -> () // no comment here

// -----

"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "gpu"} : () -> () // expected-error {{got: gpu}}

// -----

"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "gpu"} : () -> ()
// expected-error@above {{got: gpu}}

// -----

"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "gpu"} : () -> ()


// expected-error@-3 {{got: gpu}}

// -----

// expected-error-re@below {{needs a tier out of {{.*, host, [a-z]+}}, got: gpu}}
"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "gpu"} : () -> ()

// -----

// Two comments for one line, in any order.
// expected-error@below {{slot of result 0 of @forward is not defined: @t}}
// expected-error@below {{argument 0 of @forward needs a kind out of}}
func.func @forward(%x: tensor<4xf32> {residency.kind = "data"}) -> (tensor<4xf32> {residency.slot = @t}) {
  return %x : tensor<4xf32>
}

// -----

"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "device"} : () -> () // expected-note {{existing symbol}}
// expected-error@below {{redefinition of symbol named 's'}}
"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "device"} : () -> ()

// -----

func.func @forward(%x: tensor<4xf32>) {
  // expected-error@unknown {{op is not allowed in entry functions in phase placed: residency.free}}
  "residency.free"(%x) : (tensor<4xf32>) -> () loc("model.py":3:1)
  return
}
