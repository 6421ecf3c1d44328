// RUN: residency-opt --split-input-file -p residency-outline-segments,residency-dedupe-segments %s | filecheck %s

// Names of values, handles and locations do not matter.
// CHECK-LABEL: func.func @equal_layers_share_a_segment
// CHECK: %[[A:.*]] = call @equal_layers_share_a_segment_seg_0(%[[X:.*]], %{{.*}})
// CHECK-NEXT: %[[B:.*]] = call @equal_layers_share_a_segment_seg_0(%[[A]], %{{.*}})
// CHECK-NEXT: return %[[B]]
// CHECK: func.func private @equal_layers_share_a_segment_seg_0
// CHECK-NOT: func.func private
func.func @equal_layers_share_a_segment(%x: !torch.vtensor<[4,4],f32> {residency.fx = 1 : i64}, %w0: !torch.vtensor<[4,4],f32> {residency.fx = 2 : i64}, %w1: !torch.vtensor<[4,4],f32> {residency.fx = 3 : i64}) -> !torch.vtensor<[4,4],f32> {
  %0 = torch.aten.mm %x, %w0 {residency.fx = 4 : i64} : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32> loc("first":1:1)
  %1 = torch.aten.relu %0 {residency.fx = 5 : i64, residency.cut} : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %again = torch.aten.mm %1, %w1 {residency.fx = 16 : i64} : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32> loc("second":2:2)
  %2 = torch.aten.relu %again : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  return %2 : !torch.vtensor<[4,4],f32>
}

// -----

// CHECK-LABEL: func.func @other_constants_make_another_segment
// CHECK: call @other_constants_make_another_segment_seg_0
// CHECK: call @other_constants_make_another_segment_seg_1
// CHECK: func.func private @other_constants_make_another_segment_seg_0
// CHECK: torch.constant.float 5.000000e-01
// CHECK: func.func private @other_constants_make_another_segment_seg_1
// CHECK: torch.constant.float 2.500000e-01
func.func @other_constants_make_another_segment(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %half = torch.constant.float 5.000000e-01
  %quarter = torch.constant.float 2.500000e-01
  %0 = torch.aten.mul.Scalar %x, %half {residency.cut} : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  %1 = torch.aten.mul.Scalar %0, %quarter : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

// CHECK-LABEL: func.func @other_operands_make_another_segment
// CHECK: call @other_operands_make_another_segment_seg_0
// CHECK: call @other_operands_make_another_segment_seg_1
func.func @other_operands_make_another_segment(%x: !torch.vtensor<[4,4],f32>, %w: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %0 = torch.aten.mm %x, %w {residency.cut} : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %1 = torch.aten.mm %0, %0 : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  return %1 : !torch.vtensor<[4,4],f32>
}

// -----

// CHECK-LABEL: func.func @other_types_make_another_segment
// CHECK: call @other_types_make_another_segment_seg_0
// CHECK: call @other_types_make_another_segment_seg_1
func.func @other_types_make_another_segment(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[8],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[8],f32>) {
  %0 = torch.aten.exp %x {residency.cut} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.exp %y : !torch.vtensor<[8],f32> -> !torch.vtensor<[8],f32>
  return %0, %1 : !torch.vtensor<[4],f32>, !torch.vtensor<[8],f32>
}

// -----

// What stands behind a handle may be anything.
// CHECK-LABEL: func.func @opaque_ops_are_equal_to_no_other
// CHECK: call @opaque_ops_are_equal_to_no_other_seg_0
// CHECK: call @opaque_ops_are_equal_to_no_other_seg_1
func.func @opaque_ops_are_equal_to_no_other(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.operator "torch.opaque.n1"(%x) {residency.cut} : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  %1 = torch.operator "torch.opaque.n2"(%0) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

// A compiler may treat backward in another way, so that its segments stay apart from those of forward.
// CHECK-LABEL: func.func @forward
// CHECK: call @forward_seg_0
// CHECK-LABEL: func.func @backward
// CHECK: call @backward_seg_0
func.func @forward(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
func.func @backward(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// The third layer adds another number.
// CHECK-LABEL: func.func @equal_layers_of_builtin_tensors_share_a_segment
// CHECK: %[[A:.*]] = call @equal_layers_of_builtin_tensors_share_a_segment_seg_0(%{{.*}}, %[[W0:.*]])
// CHECK-NEXT: %[[B:.*]] = call @equal_layers_of_builtin_tensors_share_a_segment_seg_0(%[[A]], %[[W1:.*]])
// CHECK-NEXT: %[[C:.*]] = call @equal_layers_of_builtin_tensors_share_a_segment_seg_2(%[[B]], %[[W1]])
// CHECK-NEXT: return %[[C]]
// CHECK: func.func private @equal_layers_of_builtin_tensors_share_a_segment_seg_0
// CHECK: dense<2.000000e+00>
// CHECK-NOT: @equal_layers_of_builtin_tensors_share_a_segment_seg_1
// CHECK: func.func private @equal_layers_of_builtin_tensors_share_a_segment_seg_2
// CHECK: dense<3.000000e+00>
func.func @equal_layers_of_builtin_tensors_share_a_segment(%x: tensor<8xf32>, %w0: tensor<8xf32>, %w1: tensor<8xf32>) -> tensor<8xf32> {
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %three = arith.constant dense<3.0> : tensor<8xf32>
  %0 = arith.mulf %x, %w0 : tensor<8xf32>
  %1 = arith.addf %0, %two {residency.cut} : tensor<8xf32>
  %2 = arith.mulf %1, %w1 : tensor<8xf32>
  %3 = arith.addf %2, %two {residency.cut} : tensor<8xf32>
  %4 = arith.mulf %3, %w1 : tensor<8xf32>
  %5 = arith.addf %4, %three : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// -----

// One has handles on its argument and its op, the other has none.
// CHECK-LABEL: func.func @handles_do_not_keep_segments_apart
// CHECK: %[[A:.*]] = call @handles_do_not_keep_segments_apart_seg_0
// CHECK-NEXT: call @handles_do_not_keep_segments_apart_seg_0(%[[A]])
// CHECK: func.func private @handles_do_not_keep_segments_apart_seg_0
// CHECK-NOT: func.func private
func.func @handles_do_not_keep_segments_apart(%x: tensor<8xf32> {residency.fx = 1 : i64}) -> tensor<8xf32> {
  %0 = math.exp %x {residency.fx = 12 : i64, residency.cut} : tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @other_attributes_make_another_segment
// CHECK: call @other_attributes_make_another_segment_seg_0
// CHECK-NEXT: call @other_attributes_make_another_segment_seg_1
func.func @other_attributes_make_another_segment(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %x {residency.fx = 1 : i64, residency.cut} : tensor<8xf32>
  %1 = math.exp %0 fastmath<fast> {residency.fx = 2 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
