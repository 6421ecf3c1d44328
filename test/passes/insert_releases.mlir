// RUN: residency-opt --split-input-file -p residency-insert-releases %s | filecheck %s

// CHECK-LABEL: @a_parameter_is_released_behind_its_last_use
// CHECK: %[[W:.*]] = "residency.gather"
// CHECK: %[[Y:.*]] = torch.aten.mm %{{.*}}, %[[W]]
// CHECK-NEXT: %[[Z:.*]] = torch.aten.mm %[[Y]], %[[W]]
// CHECK-NEXT: %[[R:.*]] = "residency.release"(%[[Z]], %[[W]]) {param = @w}
// CHECK-NEXT: %[[E:.*]] = torch.aten.exp %[[R]]
// CHECK-NEXT: return %[[E]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @a_parameter_is_released_behind_its_last_use(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %y = torch.aten.mm %x, %w : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[4,6],f32>
  %z = torch.aten.mm %y, %w : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[4,6],f32>
  %e = torch.aten.exp %z : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  return %e : !torch.vtensor<[4,6],f32>
}

// -----

// CHECK-LABEL: @a_parameter_used_twice_by_one_op_is_released_once
// CHECK: %[[Y:.*]] = torch.aten.mm %[[W:.*]], %[[W]]
// CHECK-NEXT: %[[R:.*]] = "residency.release"(%[[Y]], %[[W]])
// CHECK-NEXT: return %[[R]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @a_parameter_used_twice_by_one_op_is_released_once(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %y = torch.aten.mm %w, %w : !torch.vtensor<[6,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[6,6],f32>
  return %y : !torch.vtensor<[6,6],f32>
}

// -----

// The view itself reads nothing.
// CHECK-LABEL: @a_use_of_a_view_is_a_use
// CHECK: %[[T:.*]] = torch.aten.t
// CHECK-NOT: residency.release
// CHECK: torch.aten.exp
// CHECK-NEXT: %[[Y:.*]] = torch.aten.mm %{{.*}}, %[[T]]
// CHECK-NEXT: "residency.release"(%[[Y]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @a_use_of_a_view_is_a_use(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %t = torch.aten.t %w : !torch.vtensor<[6,6],f32> -> !torch.vtensor<[6,6],f32>
  %e = torch.aten.exp %x : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  %y = torch.aten.mm %e, %t : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[4,6],f32>
  return %y : !torch.vtensor<[4,6],f32>
}

// -----

// The pieces come out of a list.
// CHECK-LABEL: @pieces_of_a_chunk_are_uses
// CHECK: torch.aten.split.Tensor
// CHECK: torch.prim.ListUnpack
// CHECK-NOT: residency.release
// CHECK: torch.aten.mm
// CHECK-NEXT: torch.aten.mm
// CHECK-NEXT: %[[Y:.*]] = torch.aten.mm
// CHECK-NEXT: "residency.release"(%[[Y]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @pieces_of_a_chunk_are_uses(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> (!torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],f32>) {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %l = torch.aten.split.Tensor %w, %int2, %int1 : !torch.vtensor<[6,6],f32>, !torch.int, !torch.int -> !torch.list<vtensor<[6,2],f32>>
  %p:3 = torch.prim.ListUnpack %l : !torch.list<vtensor<[6,2],f32>> -> !torch.vtensor<[6,2],f32>, !torch.vtensor<[6,2],f32>, !torch.vtensor<[6,2],f32>
  %q = torch.aten.mm %x, %p#0 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,2],f32> -> !torch.vtensor<[4,2],f32>
  %k = torch.aten.mm %x, %p#1 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,2],f32> -> !torch.vtensor<[4,2],f32>
  %v = torch.aten.mm %x, %p#2 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,2],f32> -> !torch.vtensor<[4,2],f32>
  return %q, %k, %v : !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],f32>
}

// -----

// CHECK-LABEL: @pieces_that_an_op_takes_in_a_list_are_uses
// CHECK: torch.prim.ListConstruct
// CHECK-NEXT: %[[Y:.*]] = torch.aten.cat
// CHECK-NEXT: "residency.release"(%[[Y]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @pieces_that_an_op_takes_in_a_list_are_uses(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[10,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %int0 = torch.constant.int 0
  %l = torch.prim.ListConstruct %x, %w : (!torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32>) -> !torch.list<vtensor>
  %y = torch.aten.cat %l, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[10,6],f32>
  return %y : !torch.vtensor<[10,6],f32>
}

// -----

// `out_dtype`-like operands come last; torch-mlir has no keywords, so that none can be missed.
// CHECK-LABEL: @a_keyword_operand_is_a_use
// CHECK: %[[Y:.*]] = torch.operator "torch.aten.scaled_dot_product_attention"
// CHECK-NEXT: "residency.release"(%[[Y]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @a_keyword_operand_is_a_use(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %f = torch.constant.float 0.000000e+00
  %false = torch.constant.bool false
  %none = torch.constant.none
  %y = torch.operator "torch.aten.scaled_dot_product_attention"(%x, %x, %x, %w, %f, %false, %none, %false) : (!torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32>, !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[4,6],f32>
  return %y : !torch.vtensor<[4,6],f32>
}

// -----

// CHECK-LABEL: @what_an_opaque_op_may_have_kept_is_a_use
// CHECK: %[[O:.*]] = torch.operator "torch.opaque.n3"
// CHECK-NEXT: %[[Y:.*]] = torch.aten.exp %[[O]]
// CHECK-NEXT: %[[R:.*]] = "residency.release"(%[[Y]]
// CHECK-NEXT: return %[[R]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @what_an_opaque_op_may_have_kept_is_a_use(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %o = torch.operator "torch.opaque.n3"(%x, %w) : (!torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32>) -> !torch.vtensor<[4,6],f32>
  %y = torch.aten.exp %o : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  return %y : !torch.vtensor<[4,6],f32>
}

// -----

// CHECK-LABEL: @an_element_of_a_tuple_carries_the_release
// CHECK: %[[Y:.*]], %{{.*}} = torch.aten.max.dim
// CHECK-NEXT: %[[R:.*]] = "residency.release"(%[[Y]]
// CHECK-NEXT: return %[[R]], %{{.*}}
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @an_element_of_a_tuple_carries_the_release(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> (!torch.vtensor<[6],f32>, !torch.vtensor<[6],si64>) {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %y, %i = torch.aten.max.dim %w, %int0, %false : !torch.vtensor<[6,6],f32>, !torch.int, !torch.bool -> !torch.vtensor<[6],f32>, !torch.vtensor<[6],si64>
  return %y, %i : !torch.vtensor<[6],f32>, !torch.vtensor<[6],si64>
}

// -----

// CHECK-LABEL: @weight_and_bias_are_released_one_behind_the_other
// CHECK: %[[W:.*]] = "residency.gather"(%{{.*}}) {param = @w}
// CHECK: %[[B:.*]] = "residency.gather"(%{{.*}}) {param = @b}
// CHECK: %[[Y:.*]] = torch.aten.addmm
// CHECK-NEXT: %[[R0:.*]] = "residency.release"(%[[Y]], %[[W]]) {param = @w}
// CHECK-NEXT: %[[R1:.*]] = "residency.release"(%[[R0]], %[[B]]) {param = @b}
// CHECK-NEXT: return %[[R1]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
"residency.param"() {sym_name = "b", type = !torch.vtensor<[6],f32>, shard = !torch.vtensor<[3],f32>, group = "0"} : () -> ()
func.func @weight_and_bias_are_released_one_behind_the_other(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>, %bs: !torch.vtensor<[3],f32>) -> !torch.vtensor<[4,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %b = "residency.gather"(%bs) {param = @b} : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[6],f32>
  %int1 = torch.constant.int 1
  %y = torch.aten.addmm %b, %x, %w, %int1, %int1 : !torch.vtensor<[6],f32>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,6],f32>
  return %y : !torch.vtensor<[4,6],f32>
}

// -----

// CHECK-LABEL: @tied_parameters_are_gathered_once_and_released_after_both
// CHECK: %[[W:.*]] = "residency.gather"
// CHECK-NOT: residency.gather
// CHECK: %[[Y:.*]] = torch.aten.mm %{{.*}}, %[[W]]
// CHECK-NEXT: %[[Z:.*]] = torch.aten.mm %[[Y]], %[[W]]
// CHECK-NEXT: %[[R:.*]] = "residency.release"(%[[Z]], %[[W]])
// CHECK-NEXT: return %[[R]]
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
"residency.param"() {sym_name = "v", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @tied_parameters_are_gathered_once_and_released_after_both(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %y = torch.aten.mm %x, %w : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[4,6],f32>
  %v = "residency.gather"(%ws) {param = @v} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %z = torch.aten.mm %y, %v : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[4,6],f32>
  return %z : !torch.vtensor<[4,6],f32>
}

// -----

// With the views of it that nobody reads.
// CHECK-LABEL: @a_gather_that_nobody_uses_is_erased
// CHECK-NOT: residency.gather
// CHECK-NOT: torch.aten.t
// CHECK: return
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @a_gather_that_nobody_uses_is_erased(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %t = torch.aten.t %w : !torch.vtensor<[6,6],f32> -> !torch.vtensor<[6,6],f32>
  return %x : !torch.vtensor<[4,6],f32>
}

// -----

// The second gather comes after the release, so that it really gathers again.
// CHECK-LABEL: @releases_written_by_hand_stay
// CHECK: %[[W:.*]] = "residency.gather"
// CHECK: %[[Y:.*]] = torch.aten.mm
// CHECK-NEXT: %[[R:.*]] = "residency.release"(%[[Y]], %[[W]])
// CHECK-NEXT: %[[V:.*]] = "residency.gather"
// CHECK-NEXT: %[[Z:.*]] = torch.aten.mm %[[R]], %[[V]]
// CHECK-NEXT: "residency.release"(%[[Z]], %[[V]])
"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @releases_written_by_hand_stay(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %y = torch.aten.mm %x, %w : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[4,6],f32>
  %r = "residency.release"(%y, %w) {param = @w} : (!torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32>) -> !torch.vtensor<[4,6],f32>
  %v = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %z = torch.aten.mm %r, %v : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[4,6],f32>
  return %z : !torch.vtensor<[4,6],f32>
}
