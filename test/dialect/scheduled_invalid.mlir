// RUN: residency-opt --split-input-file --verify-diagnostics %s

func.func @gather_start_to_the_host_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{'residency.gather_start' op needs a value on the device, got: !residency.host<tensor<8x8xf32>>}}
  %r = "residency.gather_start"(%s) {param = @w} : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<8x8xf32>>>
  return
}

// -----

func.func @gather_start_with_an_unknown_attribute_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{'residency.gather_start' op has an unknown attribute: x}}
  %r = "residency.gather_start"(%s) {param = @w, x = 1} : (tensor<4x8xf32>) -> !residency.pending<tensor<8x8xf32>>
  return
}

// -----

func.func @reduce_start_to_the_host_is_rejected(%g: tensor<8x8xf32>) {
  // expected-error@below {{'residency.reduce_start' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
  %r = "residency.reduce_start"(%g) {param = @w} : (tensor<8x8xf32>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>
  return
}

// -----

func.func @reduce_start_with_an_unknown_attribute_is_rejected(%g: tensor<8x8xf32>) {
  // expected-error@below {{'residency.reduce_start' op has an unknown attribute: x}}
  %r = "residency.reduce_start"(%g) {param = @w, x = 1} : (tensor<8x8xf32>) -> !residency.pending<tensor<4x8xf32>>
  return
}

// -----

func.func @offload_start_that_changes_the_type_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<8x8xf32>'}}
  %r = "residency.offload_start"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<8x8xf32>>>
  return
}

// -----

func.func @offload_start_to_the_device_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{expected base type 'residency.host' but got 'tensor<4x8xf32>'}}
  %r = "residency.offload_start"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.pending<tensor<4x8xf32>>
  return
}

// -----

func.func @offload_start_of_a_host_value_is_rejected(%x: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.offload_start' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
  %r = "residency.offload_start"(%x) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> !residency.pending<!residency.host<!residency.host<tensor<4x8xf32>>>>
  return
}

// -----

func.func @offload_start_with_an_unknown_attribute_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{'residency.offload_start' op has an unknown attribute: x}}
  %r = "residency.offload_start"(%x) {slot = @s, x = 1} : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>
  return
}

// -----

func.func @reload_start_that_changes_the_type_is_rejected(%h: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<8x8xf32>'}}
  %r = "residency.reload_start"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> !residency.pending<tensor<8x8xf32>>
  return
}

// -----

func.func @reload_start_to_the_host_is_rejected(%h: !residency.host<!residency.host<tensor<4x8xf32>>>) {
  // expected-error@below {{'residency.reload_start' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
  %r = "residency.reload_start"(%h) {slot = @s} : (!residency.host<!residency.host<tensor<4x8xf32>>>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>
  return
}

// -----

func.func @reload_start_with_an_unknown_attribute_is_rejected(%h: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.reload_start' op has an unknown attribute: x}}
  %r = "residency.reload_start"(%h) {slot = @s, x = 1} : (!residency.host<tensor<4x8xf32>>) -> !residency.pending<tensor<4x8xf32>>
  return
}

// -----

func.func @wait_that_changes_the_type_is_rejected(%p: !residency.pending<tensor<4x8xf32>>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<8x8xf32>'}}
  %r = "residency.wait"(%p) : (!residency.pending<tensor<4x8xf32>>) -> tensor<8x8xf32>
  return
}

// -----

func.func @wait_for_a_value_that_is_there_is_rejected(%p: tensor<4x8xf32>) {
  // expected-error@below {{expected base type 'residency.pending' but got 'tensor<4x8xf32>'}}
  %r = "residency.wait"(%p) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @second_wait_is_rejected(%p: !residency.pending<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.wait' op needs a pending value with one use, got uses: 2}}
  %a = "residency.wait"(%p) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  %b = "residency.wait"(%p) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return
}

// -----

func.func @wait_with_an_unknown_attribute_is_rejected(%p: !residency.pending<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.wait' op has an unknown attribute: x}}
  %r = "residency.wait"(%p) {x = 1} : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return
}

// -----

func.func @free_of_a_host_value_is_rejected(%x: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.free' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
  "residency.free"(%x) : (!residency.host<tensor<4x8xf32>>) -> ()
  return
}

// -----

func.func @free_of_a_value_in_flight_is_rejected(%x: !residency.pending<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.free' op needs a value on the device, got: !residency.pending<tensor<4x8xf32>>}}
  "residency.free"(%x) : (!residency.pending<tensor<4x8xf32>>) -> ()
  return
}

// -----

func.func @free_with_an_unknown_attribute_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{'residency.free' op has an unknown attribute: x}}
  "residency.free"(%x) {x = 1} : (tensor<4x8xf32>) -> ()
  return
}

// -----

func.func @start_that_is_not_pending_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{expected base type 'residency.pending' but got 'tensor<8x8xf32>'}}
  %r = "residency.gather_start"(%s) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @start_without_a_result_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{op expects exactly 1 results, but got 0}}
  "residency.gather_start"(%s) {param = @w} : (tensor<4x8xf32>) -> ()
  return
}

// -----

func.func @wait_for_nothing_is_rejected() {
  // expected-error@below {{op expects exactly 1 operands, but got 0}}
  %x = "residency.wait"() : () -> tensor<4x8xf32>
  return
}
