// RUN: residency-opt --split-input-file --verify-diagnostics -p residency-check-imported %s | filecheck %s

"residency.slot"() {sym_name = "saved_0", type = !torch.vtensor<[4],f32>, tier = "device"} : () -> ()
// CHECK-LABEL: @an_imported_step_passes
func.func @an_imported_step_passes(%x: !torch.vtensor<[4],f32> {residency.kind = "input", residency.fx = 0}, %w: !torch.vtensor<[4],f32> {residency.kind = "param"}) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> {residency.slot = @saved_0}) {
  %y = torch.aten.mul.Tensor %x, %w {residency.fx = 1} : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %y, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}
// CHECK-LABEL: @backward
func.func @backward(%y: !torch.vtensor<[4],f32> {residency.kind = "saved", residency.slot = @saved_0}, %g: !torch.vtensor<[4],f32> {residency.kind = "tangent"}, %n: !torch.int {residency.kind = "symint"}, %mesh: !torch.any {residency.kind = "opaque"}) -> !torch.vtensor<[4],f32> {
  %0 = torch.operator "torch.opaque.n7"(%y, %g) : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// Modules written by hand mark only what they need.
// CHECK-LABEL: @arguments_need_no_kind
func.func @arguments_need_no_kind(%x: tensor<4x8xf32>) {
  return
}

// -----

// Every offender is reported, not only the first.
// expected-error@below {{slot of result 0 of @every_offender_is_reported is not defined: @lost}}
func.func @every_offender_is_reported(%x: tensor<4x8xf32>, %h: !residency.host<tensor<4x8xf32>>) -> (tensor<4x8xf32> {residency.slot = @lost}) {
  // expected-error@below {{op is not allowed in entry functions in phase imported: residency.offload}}
  %h2 = "residency.offload"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  // expected-error@below {{op is not allowed in entry functions in phase imported: arith.constant}}
  %c = arith.constant 1 : i32
  return %x : tensor<4x8xf32>
}

// -----

// expected-error@below {{slot @s cannot have left the device in phase imported, got tier: host}}
"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "host"} : () -> ()

// -----

// expected-error@below {{argument 0 of @unknown_kind_is_rejected needs a kind out of input, param, saved, tangent, symint, opaque, got: data}}
// expected-error@below {{argument 1 of @unknown_kind_is_rejected needs a kind out of input, param, saved, tangent, symint, opaque, got: 3 : i64}}
func.func @unknown_kind_is_rejected(%x: tensor<4xf32> {residency.kind = "data"}, %y: tensor<4xf32> {residency.kind = 3}) {
  return
}

// -----

// expected-error@below {{argument 0 of @misspelt_attributes_are_rejected has an unknown attribute: residency.kidn}}
// expected-error@below {{result 0 of @misspelt_attributes_are_rejected has an unknown attribute: residency.kind}}
func.func @misspelt_attributes_are_rejected(%x: !torch.vtensor<[4],f32> {residency.kidn = "input"}) -> (!torch.vtensor<[4],f32> {residency.kind = "saved"}) {
  // expected-error@below {{torch.aten.tanh has an unknown attribute: residency.fxx}}
  %y = torch.aten.tanh %x {residency.fxx = 3} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "device"} : () -> ()
// expected-error@below {{argument 0 of @saved_means_slot has no slot, got kind: saved}}
// expected-error@below {{argument 1 of @saved_means_slot has slot @s, got kind: input}}
func.func @saved_means_slot(%x: tensor<4xf32> {residency.kind = "saved"}, %y: tensor<4xf32> {residency.kind = "input", residency.slot = @s}) {
  return
}

// -----

"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "device"} : () -> ()
// expected-error@below {{argument 0 of @slot_type_is_the_arguments has slot @s of tensor<4xf32> in tier device, got type: tensor<8xf32>}}
// expected-error@below {{slot of argument 1 of @slot_type_is_the_arguments must be one symbol, got: @s::@t}}
func.func @slot_type_is_the_arguments(%x: tensor<8xf32> {residency.slot = @s}, %y: tensor<4xf32> {residency.slot = @s::@t}) {
  return
}

// -----

// expected-error@below {{private function is not allowed in phase imported: @helper}}
func.func private @helper(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@below {{function @control_flow_is_rejected must be straight-line code, got blocks: 2}}
func.func @control_flow_is_rejected() {
  cf.br ^bb1
^bb1:
  return
}

// -----

// expected-error@below {{op is not allowed outside of functions: memref.global}}
memref.global "private" @g : memref<4xf32>
