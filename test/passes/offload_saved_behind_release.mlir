// RUN: residency-opt --split-input-file -p residency-match-slots,residency-offload-saved{budget=0},residency-match-slots %s | filecheck %s
// RUN: residency-opt --split-input-file -p residency-match-slots %s -o %t.before
// RUN: residency-opt --split-input-file -p residency-match-slots,residency-offload-saved{budget=0},residency-undo-offload %s -o %t.after
// RUN: cmp %t.before %t.after
// RUN: filecheck %s --check-prefix=UNDONE --input-file=%t.after

// CHECK-LABEL: module @an_output_behind_the_release_of_its_weight_is_moved
// CHECK: "residency.slot"(){{.*}}sym_name = "y", tier = "host"
// CHECK: func.func @forward
// CHECK: %[[Y:.*]] = torch.aten.mm
// CHECK: %[[R:.*]] = "residency.release"(%[[Y]], %{{.*}}) {param = @w}
// CHECK: %[[H:.*]] = "residency.offload"(%[[R]]) {slot = @y}
// CHECK: return %[[H]]
// CHECK: func.func @backward(%[[A:.*]]: !residency.host<!torch.vtensor<[4,8],f32>> {residency.slot = @y}
// CHECK: %[[B:.*]] = "residency.reload"(%[[A]]) {slot = @y}
// CHECK: torch.aten.mm %{{.*}}, %[[B]]

// UNDONE-LABEL: module @an_output_behind_the_release_of_its_weight_is_moved
// UNDONE: %[[R:.*]] = "residency.release"
// UNDONE-NEXT: return %[[R]]
module @an_output_behind_the_release_of_its_weight_is_moved {
  "residency.param"() {sym_name = "w", type = !torch.vtensor<[8,8],f32>, shard = !torch.vtensor<[4,8],f32>, group = "0"} : () -> ()
  func.func @forward(%x: !torch.vtensor<[4,8],f32>, %ws: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4,8],f32> {residency.slot = @y}) {
    %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[8,8],f32>
    %y = torch.aten.mm %x, %w : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32> -> !torch.vtensor<[4,8],f32>
    %r = "residency.release"(%y, %w) {param = @w} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32>
    return %r : !torch.vtensor<[4,8],f32>
  }
  func.func @backward(%y: !torch.vtensor<[4,8],f32> {residency.slot = @y}, %g: !torch.vtensor<[8,4],f32>) -> !torch.vtensor<[8,8],f32> {
    %0 = torch.aten.mm %g, %y : !torch.vtensor<[8,4],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[8,8],f32>
    return %0 : !torch.vtensor<[8,8],f32>
  }
}

// -----

// CHECK-LABEL: module @an_output_behind_the_releases_of_weight_and_bias_is_moved
// CHECK: %[[Y:.*]] = torch.aten.addmm
// CHECK: %[[R0:.*]] = "residency.release"(%[[Y]], %{{.*}}) {param = @w}
// CHECK: %[[R1:.*]] = "residency.release"(%[[R0]], %{{.*}}) {param = @b}
// CHECK: "residency.offload"(%[[R1]]) {slot = @y}
// CHECK: func.func @backward
// CHECK: %[[B:.*]] = "residency.reload"(%{{.*}}) {slot = @y}
// CHECK: torch.aten.mm %{{.*}}, %[[B]]

// UNDONE-LABEL: module @an_output_behind_the_releases_of_weight_and_bias_is_moved
// UNDONE: %[[R0:.*]] = "residency.release"
// UNDONE: %[[R1:.*]] = "residency.release"(%[[R0]]
// UNDONE-NEXT: return %[[R1]]
module @an_output_behind_the_releases_of_weight_and_bias_is_moved {
  "residency.param"() {sym_name = "w", type = !torch.vtensor<[8,8],f32>, shard = !torch.vtensor<[4,8],f32>, group = "0"} : () -> ()
  "residency.param"() {sym_name = "b", type = !torch.vtensor<[8],f32>, shard = !torch.vtensor<[4],f32>, group = "0"} : () -> ()
  func.func @forward(%x: !torch.vtensor<[4,8],f32>, %ws: !torch.vtensor<[4,8],f32>, %bs: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4,8],f32> {residency.slot = @y}) {
    %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[8,8],f32>
    %b = "residency.gather"(%bs) {param = @b} : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[8],f32>
    %int1 = torch.constant.int 1
    %y = torch.aten.addmm %b, %x, %w, %int1, %int1 : !torch.vtensor<[8],f32>, !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
    %r0 = "residency.release"(%y, %w) {param = @w} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32>
    %r1 = "residency.release"(%r0, %b) {param = @b} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>) -> !torch.vtensor<[4,8],f32>
    return %r1 : !torch.vtensor<[4,8],f32>
  }
  func.func @backward(%y: !torch.vtensor<[4,8],f32> {residency.slot = @y}, %g: !torch.vtensor<[8,4],f32>) -> !torch.vtensor<[8,8],f32> {
    %0 = torch.aten.mm %g, %y : !torch.vtensor<[8,4],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[8,8],f32>
    return %0 : !torch.vtensor<[8,8],f32>
  }
}

// -----

// CHECK-LABEL: module @an_element_of_a_tuple_behind_a_release_is_moved
// CHECK: %[[Y:.*]], %{{.*}}, %{{.*}} = torch.aten.native_layer_norm
// CHECK: %[[R:.*]] = "residency.release"(%[[Y]], %{{.*}}) {param = @w}
// CHECK: "residency.offload"(%[[R]]) {slot = @y}
// CHECK: "residency.offload"(%{{.*}}) {slot = @mean}
// CHECK: func.func @backward
// CHECK-DAG: "residency.reload"(%{{.*}}) {slot = @y}
// CHECK-DAG: "residency.reload"(%{{.*}}) {slot = @mean}

// UNDONE-LABEL: module @an_element_of_a_tuple_behind_a_release_is_moved
// UNDONE: %[[R:.*]] = "residency.release"
// UNDONE-NEXT: return %[[R]]
module @an_element_of_a_tuple_behind_a_release_is_moved {
  "residency.param"() {sym_name = "w", type = !torch.vtensor<[8],f32>, shard = !torch.vtensor<[4],f32>, group = "0"} : () -> ()
  func.func @forward(%x: !torch.vtensor<[4,8],f32>, %ws: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4,8],f32> {residency.slot = @y}, !torch.vtensor<[4,1],f32> {residency.slot = @mean}) {
    %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[8],f32>
    %none = torch.constant.none
    %int8 = torch.constant.int 8
    %eps = torch.constant.float 1.000000e-05
    %shape = torch.prim.ListConstruct %int8 : (!torch.int) -> !torch.list<int>
    %y, %mean, %rstd = torch.aten.native_layer_norm %x, %shape, %w, %none, %eps : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.vtensor<[8],f32>, !torch.none, !torch.float -> !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],f32>
    %r = "residency.release"(%y, %w) {param = @w} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>) -> !torch.vtensor<[4,8],f32>
    return %r, %mean : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>
  }
  func.func @backward(%y: !torch.vtensor<[4,8],f32> {residency.slot = @y}, %mean: !torch.vtensor<[4,1],f32> {residency.slot = @mean}) -> !torch.vtensor<[4,8],f32> {
    %0 = torch.aten.mul.Tensor %y, %mean : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32> -> !torch.vtensor<[4,8],f32>
    return %0 : !torch.vtensor<[4,8],f32>
  }
}

// -----

// The user's result is still the tensor on the device.
// CHECK-LABEL: module @a_value_behind_a_release_that_is_returned_and_saved_is_moved
// CHECK: %[[R:.*]] = "residency.release"
// CHECK: %[[H:.*]] = "residency.offload"(%[[R]]) {slot = @y}
// CHECK: return %[[R]], %[[H]]
// CHECK: func.func @backward
// CHECK: "residency.reload"(%{{.*}}) {slot = @y}

// UNDONE-LABEL: module @a_value_behind_a_release_that_is_returned_and_saved_is_moved
// UNDONE: %[[R:.*]] = "residency.release"
// UNDONE-NEXT: return %[[R]], %[[R]]
module @a_value_behind_a_release_that_is_returned_and_saved_is_moved {
  "residency.param"() {sym_name = "w", type = !torch.vtensor<[8,8],f32>, shard = !torch.vtensor<[4,8],f32>, group = "0"} : () -> ()
  func.func @forward(%x: !torch.vtensor<[4,8],f32>, %ws: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32> {residency.slot = @y}) {
    %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[8,8],f32>
    %y = torch.aten.mm %x, %w : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32> -> !torch.vtensor<[4,8],f32>
    %r = "residency.release"(%y, %w) {param = @w} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8,8],f32>) -> !torch.vtensor<[4,8],f32>
    return %r, %r : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>
  }
  func.func @backward(%y: !torch.vtensor<[4,8],f32> {residency.slot = @y}, %g: !torch.vtensor<[8,4],f32>) -> !torch.vtensor<[8,8],f32> {
    %0 = torch.aten.mm %g, %y : !torch.vtensor<[8,4],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[8,8],f32>
    return %0 : !torch.vtensor<[8,8],f32>
  }
}
