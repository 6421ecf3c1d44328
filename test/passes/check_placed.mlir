// RUN: residency-opt --split-input-file --verify-diagnostics -p residency-check-placed %s | filecheck %s

"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "0"} : () -> ()
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "host"} : () -> ()
// CHECK-LABEL: @a_placed_step_passes
func.func @a_placed_step_passes(%x: tensor<4x8xf32>, %shard: tensor<4x8xf32>) -> (!residency.host<tensor<4x8xf32>> {residency.slot = @s}) {
  %w = "residency.gather"(%shard) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %y = "residency.release"(%x, %w) {param = @w} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %h = "residency.offload"(%y) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  return %h : !residency.host<tensor<4x8xf32>>
}
func.func @backward(%h: !residency.host<tensor<4x8xf32>> {residency.kind = "saved", residency.slot = @s}, %g: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %x = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>
  %r = "residency.reduce"(%g) {param = @w} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Every offender is reported, not only the first.
// expected-error@below {{slot of result 0 of @every_offender_is_reported is not defined: @lost}}
func.func @every_offender_is_reported(%x: tensor<4x8xf32>, %h: !residency.host<tensor<4x8xf32>>) -> (tensor<4x8xf32> {residency.slot = @lost}) {
  // expected-error@below {{op is not allowed in entry functions in phase placed: residency.free}}
  "residency.free"(%x) : (tensor<4x8xf32>) -> ()
  // expected-error@below {{op is not allowed in entry functions in phase placed: arith.constant}}
  %c = arith.constant 1 : i32
  return %x : tensor<4x8xf32>
}

// -----

func.func @symbols_must_be_defined(%x: tensor<4x8xf32>, %h: !residency.host<tensor<4x8xf32>>) {
  // expected-error@below {{slot of residency.offload is not defined: @s}}
  %0 = "residency.offload"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  // expected-error@below {{slot of residency.reload is not defined: @s}}
  %1 = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>
  // expected-error@below {{param of residency.gather is not defined: @w}}
  %2 = "residency.gather"(%x) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

// A slot is no param, though both are symbols.
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "device"} : () -> ()
func.func @symbols_must_be_of_the_right_sort(%x: tensor<4x8xf32>) {
  // expected-error@below {{param of residency.gather is not defined: @s}}
  %0 = "residency.gather"(%x) {param = @s} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "0"} : () -> ()
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "host"} : () -> ()
func.func @types_agree_with_the_symbols(%x: tensor<2xf32>, %h: !residency.host<tensor<2xf32>>) {
  // expected-error@below {{residency.offload of slot @s needs type tensor<4x8xf32>, got: tensor<2xf32>}}
  %0 = "residency.offload"(%x) {slot = @s} : (tensor<2xf32>) -> !residency.host<tensor<2xf32>>
  // expected-error@below {{residency.reload of slot @s needs type tensor<4x8xf32>, got: tensor<2xf32>}}
  %1 = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<2xf32>>) -> tensor<2xf32>
  // expected-error@below {{residency.gather of param @w needs shard tensor<4x8xf32>, got: tensor<2xf32>}}
  // expected-error@below {{residency.gather of param @w needs type tensor<8x8xf32>, got: tensor<4x4xf32>}}
  %2 = "residency.gather"(%x) {param = @w} : (tensor<2xf32>) -> tensor<4x4xf32>
  // expected-error@below {{residency.release of param @w needs type tensor<8x8xf32>, got: tensor<4x4xf32>}}
  %3 = "residency.release"(%x, %2) {param = @w} : (tensor<2xf32>, tensor<4x4xf32>) -> tensor<2xf32>
  // expected-error@below {{residency.reduce of param @w needs type tensor<8x8xf32>, got: tensor<4x4xf32>}}
  // expected-error@below {{residency.reduce of param @w needs shard tensor<4x8xf32>, got: tensor<2xf32>}}
  %4 = "residency.reduce"(%2) {param = @w} : (tensor<4x4xf32>) -> tensor<2xf32>
  return
}

// -----

"residency.slot"() {sym_name = "s", type = tensor<4xf32>, tier = "host"} : () -> ()
"residency.slot"() {sym_name = "t", type = tensor<4xf32>, tier = "device"} : () -> ()
// expected-error@below {{argument 0 of @the_tier_says_where has slot @s of tensor<4xf32> in tier host, got type: tensor<4xf32>}}
// expected-error@below {{argument 1 of @the_tier_says_where has slot @t of tensor<4xf32> in tier device, got type: !residency.host<tensor<4xf32>>}}
// expected-error@below {{result 0 of @the_tier_says_where has slot @s of tensor<4xf32> in tier host, got type: tensor<4xf32>}}
func.func @the_tier_says_where(%x: tensor<4xf32> {residency.slot = @s}, %y: !residency.host<tensor<4xf32>> {residency.slot = @t}) -> (tensor<4xf32> {residency.slot = @s}) {
  return %x : tensor<4xf32>
}
