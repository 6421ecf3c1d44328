// REQUIRES: stock-mlir-opt
// What IRDL can say, a stock tool enforces.
// RUN: residency-opt --emit=irdl -o %t.irdl.mlir
// RUN: %stock-mlir-opt --irdl-file=%t.irdl.mlir --split-input-file --verify-diagnostics %s

func.func @release_that_changes_the_type_is_rejected(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<8x8xf32>'}}
  %y = "residency.release"(%x, %w) {param = @w} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @offload_to_another_type_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<4x4xf32>'}}
  %h = "residency.offload"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x4xf32>>
  return
}

// -----

func.func @reload_of_a_device_value_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{expected base type 'residency.host' but got 'tensor<4x8xf32>'}}
  %h = "residency.reload"(%x) {slot = @s} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @transfer_that_is_not_pending_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{expected base type 'residency.pending' but got 'tensor<8x8xf32>'}}
  %w = "residency.gather_start"(%s) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @wait_that_changes_the_type_is_rejected(%p: !residency.pending<tensor<4x8xf32>>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<4x4xf32>'}}
  %x = "residency.wait"(%p) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x4xf32>
  return
}

// -----

func.func @gather_without_its_parameter_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{attribute "param" is expected but not provided}}
  %w = "residency.gather"(%s) : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

// expected-error@below {{attribute "tier" is expected but not provided}}
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>} : () -> ()

// -----

// expected-error@below {{expected base attribute 'builtin.string' but got 'builtin.integer'}}
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = 0} : () -> ()
