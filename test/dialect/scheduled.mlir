// RUN: residency-opt %s | filecheck %s
// RUN: residency-opt %s | residency-opt | filecheck %s

// CHECK-LABEL: @collectives_of_vtensor
// CHECK-SAME: (%[[SHARD:.*]]: !torch.vtensor<[4,8],f32>, %[[G:.*]]: !torch.vtensor<[8,8],f32>)
// CHECK-NEXT: %[[P:.*]] = "residency.gather_start"(%[[SHARD]]) {param = @w} : (!torch.vtensor<[4,8],f32>) -> !residency.pending<!torch.vtensor<[8,8],f32>>
// CHECK-NEXT: %[[Q:.*]] = "residency.reduce_start"(%[[G]]) {param = @w} : (!torch.vtensor<[8,8],f32>) -> !residency.pending<!torch.vtensor<[4,8],f32>>
// CHECK-NEXT: %[[W:.*]] = "residency.wait"(%[[P]]) : (!residency.pending<!torch.vtensor<[8,8],f32>>) -> !torch.vtensor<[8,8],f32>
// CHECK-NEXT: %[[R:.*]] = "residency.wait"(%[[Q]]) : (!residency.pending<!torch.vtensor<[4,8],f32>>) -> !torch.vtensor<[4,8],f32>
// CHECK-NEXT: "residency.free"(%[[W]]) : (!torch.vtensor<[8,8],f32>) -> ()
// CHECK-NEXT: return %[[R]]
func.func @collectives_of_vtensor(%shard: !torch.vtensor<[4,8],f32>, %g: !torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %p = "residency.gather_start"(%shard) {param = @w} : (!torch.vtensor<[4,8],f32>) -> !residency.pending<!torch.vtensor<[8,8],f32>>
  %q = "residency.reduce_start"(%g) {param = @w} : (!torch.vtensor<[8,8],f32>) -> !residency.pending<!torch.vtensor<[4,8],f32>>
  %w = "residency.wait"(%p) : (!residency.pending<!torch.vtensor<[8,8],f32>>) -> !torch.vtensor<[8,8],f32>
  %r = "residency.wait"(%q) : (!residency.pending<!torch.vtensor<[4,8],f32>>) -> !torch.vtensor<[4,8],f32>
  "residency.free"(%w) : (!torch.vtensor<[8,8],f32>) -> ()
  return %r : !torch.vtensor<[4,8],f32>
}

// CHECK-LABEL: @transfers_of_vtensor
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4,8],f32>)
// CHECK-NEXT: %[[P:.*]] = "residency.offload_start"(%[[X]]) {slot = @s} : (!torch.vtensor<[4,8],f32>) -> !residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>>
// CHECK-NEXT: %[[H:.*]] = "residency.wait"(%[[P]]) : (!residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>>) -> !residency.host<!torch.vtensor<[4,8],f32>>
// CHECK-NEXT: "residency.free"(%[[X]]) : (!torch.vtensor<[4,8],f32>) -> ()
// CHECK-NEXT: %[[Q:.*]] = "residency.reload_start"(%[[H]]) {slot = @s} : (!residency.host<!torch.vtensor<[4,8],f32>>) -> !residency.pending<!torch.vtensor<[4,8],f32>>
// CHECK-NEXT: %[[Y:.*]] = "residency.wait"(%[[Q]]) : (!residency.pending<!torch.vtensor<[4,8],f32>>) -> !torch.vtensor<[4,8],f32>
// CHECK-NEXT: return %[[Y]]
func.func @transfers_of_vtensor(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %p = "residency.offload_start"(%x) {slot = @s} : (!torch.vtensor<[4,8],f32>) -> !residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>>
  %h = "residency.wait"(%p) : (!residency.pending<!residency.host<!torch.vtensor<[4,8],f32>>>) -> !residency.host<!torch.vtensor<[4,8],f32>>
  "residency.free"(%x) : (!torch.vtensor<[4,8],f32>) -> ()
  %q = "residency.reload_start"(%h) {slot = @s} : (!residency.host<!torch.vtensor<[4,8],f32>>) -> !residency.pending<!torch.vtensor<[4,8],f32>>
  %y = "residency.wait"(%q) : (!residency.pending<!torch.vtensor<[4,8],f32>>) -> !torch.vtensor<[4,8],f32>
  return %y : !torch.vtensor<[4,8],f32>
}

// CHECK-LABEL: @collectives_of_tensor
// CHECK-SAME: (%[[SHARD:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<8x8xf32>)
// CHECK-NEXT: %[[P:.*]] = "residency.gather_start"(%[[SHARD]]) {param = @w} : (tensor<4x8xf32>) -> !residency.pending<tensor<8x8xf32>>
// CHECK-NEXT: %[[Q:.*]] = "residency.reduce_start"(%[[G]]) {param = @w} : (tensor<8x8xf32>) -> !residency.pending<tensor<4x8xf32>>
// CHECK-NEXT: %[[W:.*]] = "residency.wait"(%[[P]]) : (!residency.pending<tensor<8x8xf32>>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[R:.*]] = "residency.wait"(%[[Q]]) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
// CHECK-NEXT: "residency.free"(%[[W]]) : (tensor<8x8xf32>) -> ()
// CHECK-NEXT: return %[[R]]
func.func @collectives_of_tensor(%shard: tensor<4x8xf32>, %g: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %p = "residency.gather_start"(%shard) {param = @w} : (tensor<4x8xf32>) -> !residency.pending<tensor<8x8xf32>>
  %q = "residency.reduce_start"(%g) {param = @w} : (tensor<8x8xf32>) -> !residency.pending<tensor<4x8xf32>>
  %w = "residency.wait"(%p) : (!residency.pending<tensor<8x8xf32>>) -> tensor<8x8xf32>
  %r = "residency.wait"(%q) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  "residency.free"(%w) : (tensor<8x8xf32>) -> ()
  return %r : tensor<4x8xf32>
}

// CHECK-LABEL: @transfers_of_tensor
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[P:.*]] = "residency.offload_start"(%[[X]]) {slot = @s} : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>
// CHECK-NEXT: %[[H:.*]] = "residency.wait"(%[[P]]) : (!residency.pending<!residency.host<tensor<4x8xf32>>>) -> !residency.host<tensor<4x8xf32>>
// CHECK-NEXT: "residency.free"(%[[X]]) : (tensor<4x8xf32>) -> ()
// CHECK-NEXT: %[[Q:.*]] = "residency.reload_start"(%[[H]]) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> !residency.pending<tensor<4x8xf32>>
// CHECK-NEXT: %[[Y:.*]] = "residency.wait"(%[[Q]]) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @transfers_of_tensor(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = "residency.offload_start"(%x) {slot = @s} : (tensor<4x8xf32>) -> !residency.pending<!residency.host<tensor<4x8xf32>>>
  %h = "residency.wait"(%p) : (!residency.pending<!residency.host<tensor<4x8xf32>>>) -> !residency.host<tensor<4x8xf32>>
  "residency.free"(%x) : (tensor<4x8xf32>) -> ()
  %q = "residency.reload_start"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> !residency.pending<tensor<4x8xf32>>
  %y = "residency.wait"(%q) : (!residency.pending<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
