// REQUIRES: stock-mlir-opt
// The printed dialect is enough for a tool that knows nothing of this project.
// RUN: residency-opt --emit=irdl -o %t.irdl.mlir
// RUN: %stock-mlir-opt --irdl-file=%t.irdl.mlir %s | filecheck %s
// RUN: %stock-mlir-opt --irdl-file=%t.irdl.mlir %s | residency-opt | filecheck %s

// CHECK: "residency.param"()
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "0"} : () -> ()
// CHECK: "residency.slot"()
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "host"} : () -> ()

// CHECK-LABEL: @placed
func.func @placed(%x: tensor<4x8xf32>, %s: tensor<4x8xf32>, %g: tensor<8x8xf32>) {
  // CHECK: "residency.gather"(%{{.*}}) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %w = "residency.gather"(%s) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: "residency.release"
  %y = "residency.release"(%x, %w) {param = @w} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // CHECK: "residency.reduce"
  %r = "residency.reduce"(%g) {param = @w} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  // CHECK: "residency.offload"(%{{.*}}) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  %h = "residency.offload"(%y) {slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  // CHECK: "residency.reload"
  %z = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: @scheduled
func.func @scheduled(%x: tensor<4x8xf32>, %s: tensor<4x8xf32>, %g: tensor<8x8xf32>) {
  // CHECK: "residency.gather_start"
  %pw = "residency.gather_start"(%s) {param = @w} : (tensor<4x8xf32>) -> !residency.pending<tensor<8x8xf32>>
  // CHECK: "residency.wait"(%{{.*}}) : (!residency.pending<tensor<8x8xf32>>) -> tensor<8x8xf32>
  %w = "residency.wait"(%pw) : (!residency.pending<tensor<8x8xf32>>) -> tensor<8x8xf32>
  // CHECK: "residency.free"(%{{.*}}) : (tensor<8x8xf32>) -> ()
  "residency.free"(%w) : (tensor<8x8xf32>) -> ()
  // CHECK: "residency.reduce_start"
  %pr = "residency.reduce_start"(%g) {param = @w} : (tensor<8x8xf32>) -> !residency.pending<tensor<4x8xf32>>
  %r = "residency.wait"(%pr) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  // CHECK: "residency.offload_start"
  %ph = "residency.offload_start"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>
  %h = "residency.wait"(%ph) : (!residency.pending<!residency.host<tensor<4x8xf32>>>) -> !residency.host<tensor<4x8xf32>>
  // CHECK: "residency.reload_start"
  %px = "residency.reload_start"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> !residency.pending<tensor<4x8xf32>>
  %z = "residency.wait"(%px) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return
}
