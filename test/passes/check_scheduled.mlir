// RUN: residency-opt --split-input-file --verify-diagnostics -p residency-check-scheduled %s | filecheck %s

"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "0"} : () -> ()
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "host"} : () -> ()
// CHECK-LABEL: @a_scheduled_step_passes
func.func @a_scheduled_step_passes(%x: tensor<4x8xf32>, %shard: tensor<4x8xf32>) -> (!residency.host<tensor<4x8xf32>> {residency.slot = @s}) {
  %p = "residency.gather_start"(%shard) {param = @w} : (tensor<4x8xf32>) -> !residency.pending<tensor<8x8xf32>>
  %w = "residency.wait"(%p) : (!residency.pending<tensor<8x8xf32>>) -> tensor<8x8xf32>
  "residency.free"(%w) : (tensor<8x8xf32>) -> ()
  %q = "residency.offload_start"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>
  %h = "residency.wait"(%q) : (!residency.pending<!residency.host<tensor<4x8xf32>>>) -> !residency.host<tensor<4x8xf32>>
  return %h : !residency.host<tensor<4x8xf32>>
}
func.func @backward(%h: !residency.host<tensor<4x8xf32>> {residency.slot = @s}, %g: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %p = "residency.reload_start"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> !residency.pending<tensor<4x8xf32>>
  %x = "residency.wait"(%p) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  %q = "residency.reduce_start"(%g) {param = @w} : (tensor<8x8xf32>) -> !residency.pending<tensor<4x8xf32>>
  %r = "residency.wait"(%q) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Every offender is reported, not only the first.
// expected-error@below {{slot of result 0 of @every_offender_is_reported is not defined: @lost}}
func.func @every_offender_is_reported(%x: tensor<4x8xf32>, %h: !residency.host<tensor<4x8xf32>>) -> (tensor<4x8xf32> {residency.slot = @lost}) {
  // expected-error@below {{op is not allowed in entry functions in phase scheduled: residency.reload}}
  %y = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>
  // expected-error@below {{op is not allowed in entry functions in phase scheduled: arith.constant}}
  %c = arith.constant 1 : i32
  return %x : tensor<4x8xf32>
}

// -----

"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "0"} : () -> ()
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "host"} : () -> ()
func.func @types_agree_with_the_symbols(%x: tensor<2xf32>, %h: !residency.host<tensor<2xf32>>) {
  // expected-error@below {{residency.offload_start of slot @s needs type tensor<4x8xf32>, got: tensor<2xf32>}}
  %0 = "residency.offload_start"(%x) {slot = @s} : (tensor<2xf32>) -> !residency.pending<!residency.host<tensor<2xf32>>>
  // expected-error@below {{residency.reload_start of slot @s needs type tensor<4x8xf32>, got: tensor<2xf32>}}
  %1 = "residency.reload_start"(%h) {slot = @s} : (!residency.host<tensor<2xf32>>) -> !residency.pending<tensor<2xf32>>
  // expected-error@below {{residency.gather_start of param @w needs shard tensor<4x8xf32>, got: tensor<2xf32>}}
  %2 = "residency.gather_start"(%x) {param = @w} : (tensor<2xf32>) -> !residency.pending<tensor<8x8xf32>>
  // expected-error@below {{residency.reduce_start of param @w needs type tensor<8x8xf32>, got: tensor<2xf32>}}
  %3 = "residency.reduce_start"(%x) {param = @w} : (tensor<2xf32>) -> !residency.pending<tensor<4x8xf32>>
  return
}

// -----

func.func @symbols_must_be_defined(%x: tensor<4x8xf32>) {
  // expected-error@below {{slot of residency.offload_start is not defined: @s}}
  %0 = "residency.offload_start"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>
  return
}
