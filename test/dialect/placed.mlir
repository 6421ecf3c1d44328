// RUN: residency-opt %s | filecheck %s
// RUN: residency-opt %s | residency-opt | filecheck %s

// CHECK-LABEL: @sharded_parameter_of_vtensor
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4,8],f32>, %[[SHARD:.*]]: !torch.vtensor<[4,8],f32>, %[[G:.*]]: !torch.vtensor<[8,8],f32>)
// CHECK-NEXT: %[[W:.*]] = "residency.gather"(%[[SHARD]]) {param = @w} : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[8,8],f32>
// CHECK-NEXT: %[[Y:.*]] = "residency.release"(%[[X]], %[[W]]) {param = @w} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32>
// CHECK-NEXT: %[[R:.*]] = "residency.reduce"(%[[G]]) {param = @w} : (!torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32>
// CHECK-NEXT: return %[[Y]], %[[R]]
func.func @sharded_parameter_of_vtensor(%x: !torch.vtensor<[4,8],f32>, %shard: !torch.vtensor<[4,8],f32>, %g: !torch.vtensor<[8,8],f32>) -> (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>) {
  %w = "residency.gather"(%shard) {param = @w} : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[8,8],f32>
  %y = "residency.release"(%x, %w) {param = @w} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32>
  %r = "residency.reduce"(%g) {param = @w} : (!torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32>
  return %y, %r : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>
}

// CHECK-LABEL: @saved_value_of_vtensor
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4,8],f32>)
// CHECK-NEXT: %[[H:.*]] = "residency.offload"(%[[X]]) {residency.fx = 3 : i64, slot = @s} : (!torch.vtensor<[4,8],f32>) -> !residency.host<!torch.vtensor<[4,8],f32>>
// CHECK-NEXT: %[[Y:.*]] = "residency.reload"(%[[H]]) {slot = @s} : (!residency.host<!torch.vtensor<[4,8],f32>>) -> !torch.vtensor<[4,8],f32>
// CHECK-NEXT: return %[[H]], %[[Y]]
func.func @saved_value_of_vtensor(%x: !torch.vtensor<[4,8],f32>) -> (!residency.host<!torch.vtensor<[4,8],f32>>, !torch.vtensor<[4,8],f32>) {
  %h = "residency.offload"(%x) {slot = @s, residency.fx = 3} : (!torch.vtensor<[4,8],f32>) -> !residency.host<!torch.vtensor<[4,8],f32>>
  %y = "residency.reload"(%h) {slot = @s} : (!residency.host<!torch.vtensor<[4,8],f32>>) -> !torch.vtensor<[4,8],f32>
  return %h, %y : !residency.host<!torch.vtensor<[4,8],f32>>, !torch.vtensor<[4,8],f32>
}

// CHECK-LABEL: @sharded_parameter_of_tensor
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[SHARD:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<8x8xf32>)
// CHECK-NEXT: %[[W:.*]] = "residency.gather"(%[[SHARD]]) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[Y:.*]] = "residency.release"(%[[X]], %[[W]]) {param = @w} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[R:.*]] = "residency.reduce"(%[[G]]) {param = @w} : (tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]], %[[R]]
func.func @sharded_parameter_of_tensor(%x: tensor<4x8xf32>, %shard: tensor<4x8xf32>, %g: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %w = "residency.gather"(%shard) {param = @w} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %y = "residency.release"(%x, %w) {param = @w} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %r = "residency.reduce"(%g) {param = @w} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y, %r : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: @saved_value_of_tensor
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[H:.*]] = "residency.offload"(%[[X]]) {residency.fx = 3 : i64, slot = @s} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
// CHECK-NEXT: %[[Y:.*]] = "residency.reload"(%[[H]]) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[H]], %[[Y]]
func.func @saved_value_of_tensor(%x: tensor<4x8xf32>) -> (!residency.host<tensor<4x8xf32>>, tensor<4x8xf32>) {
  %h = "residency.offload"(%x) {slot = @s, residency.fx = 3} : (tensor<4x8xf32>) -> !residency.host<tensor<4x8xf32>>
  %y = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4x8xf32>>) -> tensor<4x8xf32>
  return %h, %y : !residency.host<tensor<4x8xf32>>, tensor<4x8xf32>
}
