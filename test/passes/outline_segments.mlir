// RUN: residency-opt --split-input-file -p residency-outline-segments %s | filecheck %s

// The base crosses, and the segment that reads the view makes it again; a view of an argument and a constant stay behind.
// CHECK-LABEL: func.func @views_do_not_cross
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4,6],f32>, %[[W:.*]]: !torch.vtensor<[6,6],f32>)
// CHECK: %[[SEVEN:.*]] = torch.constant.int 7
// CHECK-NEXT: %[[C:.*]]:2 = call @views_do_not_cross_seg_0(%[[X]], %[[W]])
// CHECK-NEXT: %[[P:.*]] = "residency.offload_start"(%[[C]]#1) {slot = @s}
// CHECK-NEXT: %[[B:.*]] = call @views_do_not_cross_seg_1(%[[C]]#0)
// CHECK-NEXT: %[[H:.*]] = "residency.wait"(%[[P]])
// CHECK-NEXT: %[[T:.*]] = torch.aten.t %[[W]]
// CHECK-NEXT: return %[[B]], %[[H]], %[[T]], %[[SEVEN]]
// CHECK: func.func private @views_do_not_cross_seg_0({{.*}}attributes {residency.segment = "views_do_not_cross"}
// CHECK-NEXT: %[[Y:.*]] = torch.aten.mm
// CHECK-NEXT: %[[A:.*]] = torch.aten.exp %[[Y]]
// CHECK-NEXT: return %[[Y]], %[[A]]
// CHECK: func.func private @views_do_not_cross_seg_1(%[[Y1:.*]]: !torch.vtensor<[4,6],f32>)
// CHECK-NEXT: %[[V:.*]] = torch.aten.t %[[Y1]]
// CHECK-NEXT: %[[R:.*]] = torch.aten.exp %[[V]]
// CHECK-NEXT: return %[[R]]
func.func @views_do_not_cross(%x: !torch.vtensor<[4,6],f32>, %w: !torch.vtensor<[6,6],f32>) -> (!torch.vtensor<[6,4],f32>, !residency.host<!torch.vtensor<[4,6],f32>>, !torch.vtensor<[6,6],f32>, !torch.int) {
  %int7 = torch.constant.int 7
  %y = torch.aten.mm %x, %w : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[4,6],f32>
  %v = torch.aten.t %y : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[6,4],f32>
  %a = torch.aten.exp %y : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  %p = "residency.offload_start"(%a) {slot = @s} : (!torch.vtensor<[4,6],f32>) -> !residency.pending<!residency.host<!torch.vtensor<[4,6],f32>>>
  %b = torch.aten.exp %v : !torch.vtensor<[6,4],f32> -> !torch.vtensor<[6,4],f32>
  %h = "residency.wait"(%p) : (!residency.pending<!residency.host<!torch.vtensor<[4,6],f32>>>) -> !residency.host<!torch.vtensor<[4,6],f32>>
  %wt = torch.aten.t %w : !torch.vtensor<[6,6],f32> -> !torch.vtensor<[6,6],f32>
  return %b, %h, %wt, %int7 : !torch.vtensor<[6,4],f32>, !residency.host<!torch.vtensor<[4,6],f32>>, !torch.vtensor<[6,6],f32>, !torch.int
}

// -----

// CHECK-LABEL: func.func @a_tagged_op_ends_a_segment
// CHECK: %[[A:.*]] = call @a_tagged_op_ends_a_segment_seg_0(%{{.*}})
// CHECK-NEXT: %[[B:.*]] = call @a_tagged_op_ends_a_segment_seg_1(%[[A]])
// CHECK-NEXT: return %[[B]]
// CHECK-NOT: residency.cut
func.func @a_tagged_op_ends_a_segment(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %a = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %b = torch.aten.sin %a {residency.cut} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %c = torch.aten.cos %b : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %c : !torch.vtensor<[4],f32>
}

// -----

// Numbers are cheaper to compute again than to hand around.
// CHECK-LABEL: func.func @arithmetic_on_sizes_is_done_in_each_reader
// CHECK: %[[A:.*]] = call @arithmetic_on_sizes_is_done_in_each_reader_seg_0(%[[X:.*]], %[[N:.*]])
// CHECK-NEXT: %[[B:.*]] = call @arithmetic_on_sizes_is_done_in_each_reader_seg_1(%[[A]], %[[N]])
// CHECK: func.func private @arithmetic_on_sizes_is_done_in_each_reader_seg_0
// CHECK: torch.aten.mul.int
// CHECK: func.func private @arithmetic_on_sizes_is_done_in_each_reader_seg_1
// CHECK-DAG: torch.aten.mul.int
// CHECK-DAG: torch.constant.int 2
func.func @arithmetic_on_sizes_is_done_in_each_reader(%x: !torch.vtensor<[?],f32>, %n: !torch.int) -> !torch.vtensor<[?],f32> {
  %int2 = torch.constant.int 2
  %m = torch.aten.mul.int %n, %int2 : !torch.int, !torch.int -> !torch.int
  %a = torch.aten.mul.Scalar %x, %m : !torch.vtensor<[?],f32>, !torch.int -> !torch.vtensor<[?],f32>
  %b = torch.aten.exp %a {residency.cut} : !torch.vtensor<[?],f32> -> !torch.vtensor<[?],f32>
  %c = torch.aten.mul.Scalar %b, %m : !torch.vtensor<[?],f32>, !torch.int -> !torch.vtensor<[?],f32>
  return %c : !torch.vtensor<[?],f32>
}

// -----

// CHECK-LABEL: func.func @a_returned_view_comes_from_the_segment_of_its_base
// CHECK: %[[C:.*]]:2 = call @a_returned_view_comes_from_the_segment_of_its_base_seg_0
// CHECK: %[[D:.*]] = call @a_returned_view_comes_from_the_segment_of_its_base_seg_1
// CHECK-NEXT: return %[[C]]#1, %[[D]]
// CHECK: func.func private @a_returned_view_comes_from_the_segment_of_its_base_seg_0
// CHECK: %[[Y:.*]] = torch.aten.exp
// CHECK-NEXT: %[[V:.*]] = torch.aten.t %[[Y]]
// CHECK-NEXT: return %[[Y]], %[[V]]
func.func @a_returned_view_comes_from_the_segment_of_its_base(%x: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[6,4],f32>, !torch.vtensor<[4,6],f32>) {
  %y = torch.aten.exp %x {residency.cut} : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  %v = torch.aten.t %y : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[6,4],f32>
  %z = torch.aten.exp %y : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  return %v, %z : !torch.vtensor<[6,4],f32>, !torch.vtensor<[4,6],f32>
}

// -----

// What was split crosses, not its pieces.
// CHECK-LABEL: func.func @pieces_of_a_split_do_not_cross
// CHECK: %[[Y:.*]] = call @pieces_of_a_split_do_not_cross_seg_0
// CHECK-NEXT: call @pieces_of_a_split_do_not_cross_seg_1(%[[Y]])
// CHECK: func.func private @pieces_of_a_split_do_not_cross_seg_1
// CHECK: torch.aten.split.Tensor
// CHECK: torch.prim.ListUnpack
func.func @pieces_of_a_split_do_not_cross(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[2],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %y = torch.aten.exp %x {residency.cut} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %l = torch.aten.split.Tensor %y, %int2, %int0 : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.list<vtensor<[2],f32>>
  %p:2 = torch.prim.ListUnpack %l : !torch.list<vtensor<[2],f32>> -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
  %z = torch.aten.exp %p#1 : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %z : !torch.vtensor<[2],f32>
}

// -----

// Done twice they would draw other numbers: their results cross.
// CHECK-LABEL: func.func @random_ops_are_not_repeated
// CHECK: %[[C:.*]]:2 = call @random_ops_are_not_repeated_seg_0
// CHECK-NEXT: call @random_ops_are_not_repeated_seg_1(%[[C]]#1, %[[C]]#0)
// CHECK: func.func private @random_ops_are_not_repeated_seg_0
// CHECK: torch.aten.native_dropout
// CHECK: torch.operator "torch.opaque.n5"
// CHECK: func.func private @random_ops_are_not_repeated_seg_1
// CHECK-NEXT: torch.aten.mul.Tensor
// CHECK-NEXT: return
func.func @random_ops_are_not_repeated(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %p = torch.constant.float 5.000000e-01
  %true = torch.constant.bool true
  %y, %mask = torch.aten.native_dropout %x, %p, %true : !torch.vtensor<[4],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4],f32>, !torch.vtensor<[4],i1>
  %o = torch.operator "torch.opaque.n5"(%y) {residency.cut} : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  %z = torch.aten.mul.Tensor %o, %mask : !torch.vtensor<[4],f32>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],f32>
  return %z : !torch.vtensor<[4],f32>
}

// -----

// A reload ends a segment, and is freed in the entry function: it owns its storage, views of it are made by their readers.
// CHECK-LABEL: func.func @transfers_act_on_storages
// CHECK: %[[P:.*]] = "residency.reload_start"
// CHECK-NEXT: %[[A:.*]] = call @transfers_act_on_storages_seg_0(%[[G:.*]])
// CHECK-NEXT: %[[X:.*]] = "residency.wait"(%[[P]])
// CHECK-NEXT: %[[B:.*]] = call @transfers_act_on_storages_seg_1(%[[A]], %[[X]])
// CHECK-NEXT: "residency.free"(%[[X]])
// CHECK-NEXT: return %[[B]]
func.func @transfers_act_on_storages(%h: !residency.host<!torch.vtensor<[4,4],f32>>, %g: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %p = "residency.reload_start"(%h) {slot = @s} : (!residency.host<!torch.vtensor<[4,4],f32>>) -> !residency.pending<!torch.vtensor<[4,4],f32>>
  %a = torch.aten.exp %g : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %x = "residency.wait"(%p) : (!residency.pending<!torch.vtensor<[4,4],f32>>) -> !torch.vtensor<[4,4],f32>
  %t = torch.aten.t %x : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %b = torch.aten.mm %a, %t : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  "residency.free"(%x) : (!torch.vtensor<[4,4],f32>) -> ()
  return %b : !torch.vtensor<[4,4],f32>
}

// -----

// A segment cannot return a view of what it was given: its caller makes such a view.
// CHECK-LABEL: func.func @a_view_of_a_size_that_is_computed_later_is_made_by_the_entry
// CHECK: %[[Y:.*]] = call @a_view_of_a_size_that_is_computed_later_is_made_by_the_entry_seg_0
// CHECK-NEXT: %[[N:.*]] = call @a_view_of_a_size_that_is_computed_later_is_made_by_the_entry_seg_1
// CHECK-NEXT: %[[L:.*]] = torch.prim.ListConstruct %[[N]]
// CHECK-NEXT: %[[V:.*]] = torch.aten.view %[[Y]], %[[L]]
// CHECK-NEXT: return %[[V]]
func.func @a_view_of_a_size_that_is_computed_later_is_made_by_the_entry(%x: !torch.vtensor<[2,2],f32>, %k: !torch.vtensor<[],si64>) -> !torch.vtensor<[?],f32> {
  %y = torch.aten.exp %x {residency.cut} : !torch.vtensor<[2,2],f32> -> !torch.vtensor<[2,2],f32>
  %n = torch.operator "torch.opaque.n3"(%k) : (!torch.vtensor<[],si64>) -> !torch.int
  %l = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %v = torch.aten.view %y, %l : !torch.vtensor<[2,2],f32>, !torch.list<int> -> !torch.vtensor<[?],f32>
  return %v : !torch.vtensor<[?],f32>
}

// -----

// CHECK-LABEL: func.func @handles_of_arguments_come_along
// CHECK: func.func private @handles_of_arguments_come_along_seg_0(%{{.*}}: !torch.vtensor<[4],f32> {residency.fx = 3 : i64})
// CHECK: torch.aten.exp %{{.*}} {residency.fx = 8 : i64}
func.func @handles_of_arguments_come_along(%x: !torch.vtensor<[4],f32> {residency.kind = "input", residency.fx = 3 : i64}) -> !torch.vtensor<[4],f32> {
  %y = torch.aten.exp %x {residency.fx = 8 : i64} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

// CHECK-LABEL: func.func @a_function_without_compute_has_no_segments
// CHECK-NEXT: return
// CHECK-NOT: func.func private
func.func @a_function_without_compute_has_no_segments(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  return %x : !torch.vtensor<[4],f32>
}

// -----

// Each draw happens once, and in the order of the function: the state of the generator says what comes next.
// CHECK-LABEL: func.func @draws_stay_in_order
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4],f32>) ->
// CHECK: %[[C:.*]]:2 = call @draws_stay_in_order_seg_0(%[[X]])
// CHECK-NEXT: %[[D:.*]]:2 = call @draws_stay_in_order_seg_1(%[[C]]#1, %[[C]]#0, %[[X]])
// CHECK-NEXT: return %[[D]]#0, %[[D]]#1
// CHECK: func.func private @draws_stay_in_order_seg_0
// CHECK: %[[A:.*]] = torch.aten.bernoulli
// CHECK-NEXT: %[[B:.*]] = torch.aten.bernoulli %[[A]]
// CHECK-NEXT: %[[E:.*]] = torch.aten.exp %[[B]]
// CHECK-NEXT: return %[[A]], %[[E]]
// CHECK: func.func private @draws_stay_in_order_seg_1
// CHECK-NEXT: torch.aten.mul.Tensor
// CHECK-NEXT: torch.constant.none
// CHECK-NEXT: torch.aten.bernoulli
// CHECK-NEXT: return
func.func @draws_stay_in_order(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %none = torch.constant.none
  %a = torch.aten.bernoulli %x, %none : !torch.vtensor<[4],f32>, !torch.none -> !torch.vtensor<[4],f32>
  %b = torch.aten.bernoulli %a, %none : !torch.vtensor<[4],f32>, !torch.none -> !torch.vtensor<[4],f32>
  %c = torch.aten.exp %b {residency.cut} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %d = torch.aten.mul.Tensor %c, %a : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %e = torch.aten.bernoulli %x, %none : !torch.vtensor<[4],f32>, !torch.none -> !torch.vtensor<[4],f32>
  return %d, %e : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}

// -----

// What a list holds crosses, not the list.
// CHECK-LABEL: func.func @lists_are_made_in_each_reader
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4],f32>, %[[Y:.*]]: !torch.vtensor<[4],f32>)
// CHECK-NEXT: %[[C:.*]]:2 = call @lists_are_made_in_each_reader_seg_0(%[[X]], %[[Y]])
// CHECK-NEXT: %[[B:.*]] = call @lists_are_made_in_each_reader_seg_1(%[[C]]#0, %[[Y]])
// CHECK-NEXT: return %[[C]]#1, %[[B]]
// CHECK: func.func private @lists_are_made_in_each_reader_seg_0
// CHECK: %[[L0:.*]] = torch.prim.ListConstruct
// CHECK: torch.aten.cat %[[L0]]
// CHECK: func.func private @lists_are_made_in_each_reader_seg_1(%[[E:.*]]: !torch.vtensor<[4],f32>, %[[Z:.*]]: !torch.vtensor<[4],f32>)
// CHECK-NEXT: %[[L1:.*]] = torch.prim.ListConstruct %[[E]], %[[Z]]
// CHECK-NEXT: %[[ZERO:.*]] = torch.constant.int 0
// CHECK-NEXT: torch.aten.stack %[[L1]], %[[ZERO]]
func.func @lists_are_made_in_each_reader(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[8],f32>, !torch.vtensor<[2,4],f32>) {
  %int0 = torch.constant.int 0
  %e = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %l = torch.prim.ListConstruct %e, %y : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) -> !torch.list<vtensor<[4],f32>>
  %a = torch.aten.cat %l, %int0 {residency.cut} : !torch.list<vtensor<[4],f32>>, !torch.int -> !torch.vtensor<[8],f32>
  %b = torch.aten.stack %l, %int0 : !torch.list<vtensor<[4],f32>>, !torch.int -> !torch.vtensor<[2,4],f32>
  return %a, %b : !torch.vtensor<[8],f32>, !torch.vtensor<[2,4],f32>
}

// -----

// A piece of an argument is made by the entry, a piece of what was computed by the segment that computed it.
// CHECK-LABEL: func.func @returned_pieces_come_from_where_their_whole_is
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4],f32>)
// CHECK: %[[C:.*]]:2 = call @returned_pieces_come_from_where_their_whole_is_seg_0(%[[X]])
// CHECK-NEXT: %[[F:.*]] = call @returned_pieces_come_from_where_their_whole_is_seg_1(%[[C]]#0)
// CHECK-NEXT: %[[L:.*]] = torch.aten.split.Tensor %[[X]]
// CHECK-NEXT: %[[P:.*]]:2 = torch.prim.ListUnpack %[[L]]
// CHECK-NEXT: return %[[P]]#1, %[[C]]#1, %[[F]]
// CHECK: func.func private @returned_pieces_come_from_where_their_whole_is_seg_0
// CHECK: %[[E:.*]] = torch.aten.exp
// CHECK: %[[M:.*]] = torch.aten.split.Tensor %[[E]]
// CHECK-NEXT: %[[Q:.*]]:2 = torch.prim.ListUnpack %[[M]]
// CHECK-NEXT: return %[[E]], %[[Q]]#1
func.func @returned_pieces_come_from_where_their_whole_is(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[4],f32>) {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %e = torch.aten.exp %x {residency.cut} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %f = torch.aten.sin %e : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %l = torch.aten.split.Tensor %x, %int2, %int0 : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.list<vtensor<[2],f32>>
  %p:2 = torch.prim.ListUnpack %l : !torch.list<vtensor<[2],f32>> -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
  %m = torch.aten.split.Tensor %e, %int2, %int0 : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.list<vtensor<[2],f32>>
  %q:2 = torch.prim.ListUnpack %m : !torch.list<vtensor<[2],f32>> -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
  return %p#1, %q#1, %f : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[4],f32>
}

// -----

// CHECK-LABEL: func.func @views_and_constants_of_builtin_tensors_are_made_in_their_reader
// CHECK: %[[Y:.*]] = call @views_and_constants_of_builtin_tensors_are_made_in_their_reader_seg_0
// CHECK-NEXT: %[[P:.*]] = "residency.offload_start"(%[[Y]])
// CHECK-NEXT: %[[Z:.*]] = call @views_and_constants_of_builtin_tensors_are_made_in_their_reader_seg_1(%[[Y]])
// CHECK-NEXT: %[[H:.*]] = "residency.wait"(%[[P]])
// CHECK-NEXT: "residency.free"(%[[Y]])
// CHECK-NEXT: return %[[H]], %[[Z]]
// CHECK: func.func private @views_and_constants_of_builtin_tensors_are_made_in_their_reader_seg_1(%[[BASE:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[V:.*]] = tensor.expand_shape %[[BASE]]
// CHECK-NEXT: %[[TWO:.*]] = arith.constant dense<2.000000e+00>
// CHECK-NEXT: arith.mulf %[[V]], %[[TWO]]
func.func @views_and_constants_of_builtin_tensors_are_made_in_their_reader(%x: tensor<8xf32>) -> (!residency.host<tensor<8xf32>>, tensor<2x4xf32>) {
  %two = arith.constant dense<2.0> : tensor<2x4xf32>
  %y = math.exp %x : tensor<8xf32>
  %p = "residency.offload_start"(%y) {slot = @s} : (tensor<8xf32>) -> !residency.pending<!residency.host<tensor<8xf32>>>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %z = arith.mulf %v, %two : tensor<2x4xf32>
  %h = "residency.wait"(%p) : (!residency.pending<!residency.host<tensor<8xf32>>>) -> !residency.host<tensor<8xf32>>
  "residency.free"(%y) : (tensor<8xf32>) -> ()
  return %h, %z : !residency.host<tensor<8xf32>>, tensor<2x4xf32>
}
