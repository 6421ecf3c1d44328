// RUN: residency-opt --split-input-file --verify-diagnostics %s

func.func @gather_of_a_host_shard_is_rejected(%s: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.gather' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
  %r = "residency.gather"(%s) {param = @w} : (!residency.host<tensor<4x8xf32>>) -> tensor<8x8xf32>
  return
}

// -----

func.func @gather_to_the_host_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{'residency.gather' op needs a value on the device, got: !residency.host<tensor<8x8xf32>>}}
  %r = "residency.gather"(%s) {param = @w} : (tensor<4x8xf32>) -> !residency.host<tensor<8x8xf32>>
  return
}

// -----

func.func @gather_with_an_unknown_attribute_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{'residency.gather' op has an unknown attribute: parm}}
  %r = "residency.gather"(%s) {param = @w, parm = @v} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @gather_without_a_parameter_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{'residency.gather' op needs an attribute: param}}
  %r = "residency.gather"(%s) : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @release_that_changes_the_type_is_rejected(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<8x8xf32>'}}
  %r = "residency.release"(%x, %w) {param = @w} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @release_of_a_host_value_is_rejected(%x: !residency.host<tensor<4x8xf32>>, %w: tensor<8x8xf32>) {
  // expected-error@below {{'residency.release' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
  %r = "residency.release"(%x, %w) {param = @w} : (!residency.host<tensor<4x8xf32>>, tensor<8x8xf32>) -> !residency.host<tensor<4x8xf32>>
  return
}

// -----

func.func @release_of_a_parameter_in_flight_is_rejected(%x: tensor<4x8xf32>, %w: !residency.pending<tensor<8x8xf32>>) {
  // expected-error@below {{'residency.release' op needs a value on the device, got: !residency.pending<tensor<8x8xf32>>}}
  %r = "residency.release"(%x, %w) {param = @w} : (tensor<4x8xf32>, !residency.pending<tensor<8x8xf32>>) -> tensor<4x8xf32>
  return
}

// -----

func.func @release_with_an_unknown_attribute_is_rejected(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) {
  // expected-error@below {{'residency.release' op has an unknown attribute: slot}}
  %r = "residency.release"(%x, %w) {param = @w, slot = @s} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reduce_of_a_host_gradient_is_rejected(%g: !residency.host<tensor<8x8xf32>>) {
  // expected-error@below {{'residency.reduce' op needs a value on the device, got: !residency.host<tensor<8x8xf32>>}}
  %r = "residency.reduce"(%g) {param = @w} : (!residency.host<tensor<8x8xf32>>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reduce_to_a_pending_shard_is_rejected(%g: tensor<8x8xf32>) {
  // expected-error@below {{'residency.reduce' op needs a value on the device, got: !residency.pending<tensor<4x8xf32>>}}
  %r = "residency.reduce"(%g) {param = @w} : (tensor<8x8xf32>) -> !residency.pending<tensor<4x8xf32>>
  return
}

// -----

func.func @reduce_with_an_unknown_attribute_is_rejected(%g: tensor<8x8xf32>) {
  // expected-error@below {{'residency.reduce' op has an unknown attribute: op}}
  %r = "residency.reduce"(%g) {param = @w, op = "sum"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @offload_that_changes_the_shape_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<4x4xf32>'}}
  %r = "residency.offload"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x4xf32>>
  return
}

// -----

func.func @offload_that_changes_the_dtype_is_rejected(%x: !torch.vtensor<[4,8],f32>) {
  // expected-error@below {{expected '!torch.vtensor<[4,8],f32>' but got '!torch.vtensor<[4,8],bf16>'}}
  %r = "residency.offload"(%x) {slot = @s} : (!torch.vtensor<[4,8],f32>) -> !residency.host<!torch.vtensor<[4,8],bf16>>
  return
}

// -----

func.func @offload_to_the_device_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{expected base type 'residency.host' but got 'tensor<4x8xf32>'}}
  %r = "residency.offload"(%x) {slot = @s} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @offload_of_a_host_value_is_rejected(%x: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.offload' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
  %r = "residency.offload"(%x) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> !residency.host<!residency.host<tensor<4x8xf32>>>
  return
}

// -----

func.func @offload_with_an_unknown_attribute_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{'residency.offload' op has an unknown attribute: solt}}
  %r = "residency.offload"(%x) {slot = @s, solt = @t} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  return
}

// -----

func.func @offload_without_a_slot_is_rejected(%x: tensor<4x8xf32>) {
  // expected-error@below {{'residency.offload' op needs an attribute: slot}}
  %r = "residency.offload"(%x) : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  return
}

// -----

func.func @offload_without_an_operand_is_rejected() {
  // expected-error@below {{op expects exactly 1 operands, but got 0}}
  %r = "residency.offload"() {slot = @s} : () -> !residency.host<tensor<4x8xf32>>
  return
}

// -----

func.func @reload_that_changes_the_type_is_rejected(%h: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{expected 'tensor<4x8xf32>' but got 'tensor<8x8xf32>'}}
  %r = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<8x8xf32>
  return
}

// -----

func.func @reload_of_a_device_value_is_rejected(%h: tensor<4x8xf32>) {
  // expected-error@below {{expected base type 'residency.host' but got 'tensor<4x8xf32>'}}
  %r = "residency.reload"(%h) {slot = @s} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reload_to_the_host_is_rejected(%h: !residency.host<!residency.host<tensor<4x8xf32>>>) {
  // expected-error@below {{'residency.reload' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
  %r = "residency.reload"(%h) {slot = @s} : (!residency.host<!residency.host<tensor<4x8xf32>>>) -> !residency.host<tensor<4x8xf32>>
  return
}

// -----

func.func @reload_with_an_unknown_attribute_is_rejected(%h: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{'residency.reload' op has an unknown attribute: tier}}
  %r = "residency.reload"(%h) {slot = @s, tier = "host"} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return
}

// -----

func.func @nested_symbol_is_rejected(%s: tensor<4x8xf32>) {
  // expected-error@below {{'residency.gather' op needs a FlatSymbolRefAttr as param, got: @w::@v}}
  %r = "residency.gather"(%s) {param = @w::@v} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @operand_name_is_no_attribute(%x: tensor<4x8xf32>) {
  // expected-error@below {{'residency.offload' op has an unknown attribute: input}}
  %r = "residency.offload"(%x) {slot = @s, input = 1} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  return
}
