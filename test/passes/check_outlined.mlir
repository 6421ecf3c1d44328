// RUN: residency-opt --split-input-file --verify-diagnostics -p residency-check-outlined %s | filecheck %s

"residency.slot"() {sym_name = "s", type = !torch.vtensor<[4,8],f32>, tier = "host"} : () -> ()
// CHECK-LABEL: @an_outlined_step_passes
func.func @an_outlined_step_passes(%x: !torch.vtensor<[4,8],f32>) -> (!residency.host<!torch.vtensor<[4,8],f32>> {residency.slot = @s}) {
  %y = call @forward_seg_0(%x) : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32>
  %p = "residency.offload_start"(%y) {slot = @s} : (!torch.vtensor<[4,8],f32>) -> !residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>>
  %h = "residency.wait"(%p) : (!residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>>) -> !residency.host<!torch.vtensor<[4,8],f32>>
  "residency.free"(%y) : (!torch.vtensor<[4,8],f32>) -> ()
  return %h : !residency.host<!torch.vtensor<[4,8],f32>>
}
func.func private @forward_seg_0(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %y = torch.aten.tanh %x : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  return %y : !torch.vtensor<[4,8],f32>
}

// -----

// Views move no bytes, so the entry function may make them itself.
// CHECK-LABEL: @views_of_arguments_may_stay
func.func @views_of_arguments_may_stay(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[8,4],f32> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %shape = torch.prim.ListConstruct %1, %0 : (!torch.int, !torch.int) -> !torch.list<int>
  %y = torch.aten.permute %x, %shape : !torch.vtensor<[4,8],f32>, !torch.list<int> -> !torch.vtensor<[8,4],f32>
  return %y : !torch.vtensor<[8,4],f32>
}

// -----

func.func @compute_and_copies_may_not(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %0 = torch.constant.int 0
  // expected-error@below {{op is not allowed in entry functions in phase outlined: torch.aten.tanh}}
  %y = torch.aten.tanh %x : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  %none = torch.constant.none
  // expected-error@below {{op is not allowed in entry functions in phase outlined: torch.aten.clone}}
  %z = torch.aten.clone %y, %none : !torch.vtensor<[4,8],f32>, !torch.none -> !torch.vtensor<[4,8],f32>
  // expected-error@below {{op is not allowed in entry functions in phase outlined: torch.operator}}
  %w = torch.operator "torch.opaque.n7"(%x) : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32>
  return %z : !torch.vtensor<[4,8],f32>
}

// -----

"residency.slot"() {sym_name = "s", type = !torch.vtensor<[4,8],f32>, tier = "host"} : () -> ()
func.func private @segments_only_compute(%x: !torch.vtensor<[4,8],f32>) -> !residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>> {
  // expected-error@below {{op is not allowed in segments in phase outlined: residency.offload_start}}
  %p = "residency.offload_start"(%x) {slot = @s} : (!torch.vtensor<[4,8],f32>) -> !residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>>
  return %p : !residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>>
}

// -----

func.func @segments_get_values_on_the_device(%h: !residency.host<!torch.vtensor<[4,8],f32>>) {
  // expected-error@below {{operand 0 of func.call is not on the device, got type: !residency.host<!torch.vtensor<[4,8],f32>>}}
  call @forward_seg_0(%h) : (!residency.host<!torch.vtensor<[4,8],f32>>) -> ()
  return
}
func.func private @forward_seg_0(%h: !residency.host<!torch.vtensor<[4,8],f32>>) {
  return
}

// -----

// Every offender is reported, not only the first.
// expected-error@below {{slot of result 0 of @every_offender_is_reported is not defined: @lost}}
func.func @every_offender_is_reported(%x: tensor<4x8xf32>, %h: !residency.host<tensor<4x8xf32>>) -> (tensor<4x8xf32> {residency.slot = @lost}) {
  // expected-error@below {{op is not allowed in entry functions in phase outlined: residency.gather}}
  %y = "residency.gather"(%x) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  // expected-error@below {{op is not allowed in entry functions in phase outlined: arith.constant}}
  %c = arith.constant 1 : i32
  return %x : tensor<4x8xf32>
}

// -----

// expected-error@below {{function @declaration_is_rejected must be straight-line code, got blocks: 0}}
func.func private @declaration_is_rejected(tensor<4xf32>)
