// RUN: residency-opt --split-input-file -p residency-match-slots,residency-sink-views %s | filecheck %s

// A view is told by its schema; its base was not saved and gets a slot. The view is made again where it is read.
// CHECK-LABEL: module @a_view_is_saved_as_its_base
// CHECK: "residency.slot"() {sym_name = "[[BASE:.*]]", tier = "device", type = !torch.vtensor<[4,8],f32>}
// CHECK-NOT: sym_name = "v"
// CHECK: func.func @forward
// CHECK: %[[Y:.*]] = torch.aten.mm
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func @backward(%[[B:.*]]: !torch.vtensor<[4,8],f32> {residency.kind = "saved", residency.slot = @[[BASE]]}, %[[G:.*]]: !torch.vtensor<[4,4],f32>)
// CHECK: torch.aten.relu
// CHECK: %[[I0:.*]] = torch.constant.int 0
// CHECK: %[[I1:.*]] = torch.constant.int 1
// CHECK: %[[V:.*]] = torch.aten.transpose.int %[[B]], %[[I0]], %[[I1]]
// CHECK-NEXT: torch.aten.mm %[[V]]
module @a_view_is_saved_as_its_base {
  func.func @forward(%x: !torch.vtensor<[4,4],f32>, %w: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[8,4],f32> {residency.slot = @v}) {
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %y = torch.aten.mm %x, %w : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
    %v = torch.aten.transpose.int %y, %int0, %int1 : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[8,4],f32>
    return %v : !torch.vtensor<[8,4],f32>
  }
  func.func @backward(%v: !torch.vtensor<[8,4],f32> {residency.kind = "saved", residency.slot = @v}, %g: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[8,4],f32> {
    %0 = torch.aten.relu %g : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    %1 = torch.aten.mm %v, %0 : !torch.vtensor<[8,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[8,4],f32>
    return %1 : !torch.vtensor<[8,4],f32>
  }
}

// -----

// Square, so that only strides tell base and view apart: one value is saved, and backward makes the other.
// CHECK-LABEL: module @base_and_view_share_one_slot
// CHECK: func.func @forward(%{{.*}}) -> (!torch.vtensor<[4,4],f32> {residency.slot = @y})
// CHECK: func.func @backward(%[[Y:.*]]: !torch.vtensor<[4,4],f32> {residency.slot = @y}, %[[G:.*]]: !torch.vtensor<[4,4],f32>)
// CHECK: %[[V:.*]] = torch.aten.t %[[Y]]
// CHECK: torch.aten.mm %[[V]], %[[Y]]
module @base_and_view_share_one_slot {
  func.func @forward(%x: !torch.vtensor<[4,4],f32>) -> (!torch.vtensor<[4,4],f32> {residency.slot = @v}, !torch.vtensor<[4,4],f32> {residency.slot = @y}) {
    %y = torch.aten.relu %x : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    %v = torch.aten.t %y : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    return %v, %y : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
  }
  func.func @backward(%v: !torch.vtensor<[4,4],f32> {residency.slot = @v}, %y: !torch.vtensor<[4,4],f32> {residency.slot = @y}, %g: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
    %0 = torch.aten.mm %v, %y : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    %1 = torch.aten.mm %0, %g : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    return %1 : !torch.vtensor<[4,4],f32>
  }
}

// -----

// CHECK-LABEL: module @two_views_read_by_one_op_come_from_one_base
// CHECK: func.func @backward(%[[B:.*]]: !torch.vtensor<[4,4],f32> {residency.kind = "saved", residency.slot = @{{.*}}}) ->
// CHECK-DAG: %[[T:.*]] = torch.aten.t %[[B]]
// CHECK-DAG: %[[D:.*]] = torch.aten.detach %[[B]]
// CHECK: torch.aten.mm %[[T]], %[[D]]
module @two_views_read_by_one_op_come_from_one_base {
  func.func @forward(%x: !torch.vtensor<[4,4],f32>) -> (!torch.vtensor<[4,4],f32> {residency.slot = @v}, !torch.vtensor<[4,4],f32> {residency.slot = @d}) {
    %y = torch.aten.relu %x : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    %v = torch.aten.t %y : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    %d = torch.aten.detach %y : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    return %v, %d : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
  }
  func.func @backward(%v: !torch.vtensor<[4,4],f32> {residency.slot = @v}, %d: !torch.vtensor<[4,4],f32> {residency.slot = @d}) -> !torch.vtensor<[4,4],f32> {
    %0 = torch.aten.mm %v, %d : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    return %0 : !torch.vtensor<[4,4],f32>
  }
}

// -----

// CHECK-LABEL: module @a_view_of_an_argument_saves_the_argument
// CHECK: "residency.slot"() {stays = "graph input: the caller holds it", sym_name = "[[S:.*]]", tier = "device"
// CHECK: func.func @forward(%[[W:.*]]: !torch.vtensor<[4,8],f32>)
// CHECK-NEXT: return %[[W]]
// CHECK: func.func @backward(%[[A:.*]]: !torch.vtensor<[4,8],f32> {residency.kind = "saved", residency.slot = @[[S]]})
// CHECK-NEXT: torch.aten.t %[[A]]
module @a_view_of_an_argument_saves_the_argument {
  func.func @forward(%w: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[8,4],f32> {residency.slot = @v}) {
    %v = torch.aten.t %w : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[8,4],f32>
    return %v : !torch.vtensor<[8,4],f32>
  }
  func.func @backward(%v: !torch.vtensor<[8,4],f32> {residency.slot = @v}) -> !torch.vtensor<[8,4],f32> {
    %0 = torch.aten.relu %v : !torch.vtensor<[8,4],f32> -> !torch.vtensor<[8,4],f32>
    return %0 : !torch.vtensor<[8,4],f32>
  }
}

// -----

// The saved view shows what the argument held before or after the write: nobody may make it again at another time.
// CHECK-LABEL: module @a_view_of_a_written_argument_stays
// CHECK: "residency.slot"() {reason = "a view that is saved as it is, torch.aten.t: its storage is written", sym_name = "v"
// CHECK: %[[V:.*]] = torch.aten.t
// CHECK: return %[[V]]
module @a_view_of_a_written_argument_stays {
  func.func @forward(%w: !torch.vtensor<[4,8],f32>, %x: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[8,4],f32> {residency.slot = @v}) {
    %false = torch.constant.bool false
    %v = torch.aten.t %w : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[8,4],f32>
    %0 = torch.operator "torch.aten.copy_"(%w, %x, %false) : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>, !torch.bool) -> !torch.vtensor<[4,8],f32>
    return %v : !torch.vtensor<[8,4],f32>
  }
  func.func @backward(%v: !torch.vtensor<[8,4],f32> {residency.slot = @v}) -> !torch.vtensor<[8,4],f32> {
    %0 = torch.aten.relu %v : !torch.vtensor<[8,4],f32> -> !torch.vtensor<[8,4],f32>
    return %0 : !torch.vtensor<[8,4],f32>
  }
}

// -----

// CHECK-LABEL: module @a_piece_of_a_split_is_saved_as_what_was_split
// CHECK: func.func @forward
// CHECK: %[[Y:.*]] = torch.aten.relu
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func @backward(%[[B:.*]]: !torch.vtensor<[6],f32>
// CHECK: %[[L:.*]] = torch.aten.split.Tensor %[[B]]
// CHECK-NEXT: %[[P:.*]]:3 = torch.prim.ListUnpack %[[L]]
// CHECK-NEXT: torch.aten.exp %[[P]]#1
module @a_piece_of_a_split_is_saved_as_what_was_split {
  func.func @forward(%x: !torch.vtensor<[6],f32>) -> (!torch.vtensor<[2],f32> {residency.slot = @v}) {
    %int0 = torch.constant.int 0
    %int2 = torch.constant.int 2
    %y = torch.aten.relu %x : !torch.vtensor<[6],f32> -> !torch.vtensor<[6],f32>
    %l = torch.aten.split.Tensor %y, %int2, %int0 : !torch.vtensor<[6],f32>, !torch.int, !torch.int -> !torch.list<vtensor<[2],f32>>
    %p:3 = torch.prim.ListUnpack %l : !torch.list<vtensor<[2],f32>> -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
    return %p#1 : !torch.vtensor<[2],f32>
  }
  func.func @backward(%v: !torch.vtensor<[2],f32> {residency.slot = @v}) -> !torch.vtensor<[2],f32> {
    %0 = torch.aten.exp %v : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    return %0 : !torch.vtensor<[2],f32>
  }
}

// -----

// CHECK-LABEL: module @a_view_may_take_numbers_that_are_saved
// CHECK: func.func @backward(%[[N:.*]]: !torch.int {residency.slot = @n}, %[[B:.*]]: !torch.vtensor<[?,8],f32>
// CHECK: %[[M:.*]] = torch.aten.mul.int %[[N]], %{{.*}}
// CHECK: %[[L:.*]] = torch.prim.ListConstruct %[[M]]
// CHECK: torch.aten.view %[[B]], %[[L]]
module @a_view_may_take_numbers_that_are_saved {
  func.func @forward(%n: !torch.int, %x: !torch.vtensor<[?,8],f32>) -> (!torch.int {residency.slot = @n}, !torch.vtensor<[?],f32> {residency.slot = @v}) {
    %int8 = torch.constant.int 8
    %y = torch.aten.relu %x : !torch.vtensor<[?,8],f32> -> !torch.vtensor<[?,8],f32>
    %m = torch.aten.mul.int %n, %int8 : !torch.int, !torch.int -> !torch.int
    %l = torch.prim.ListConstruct %m : (!torch.int) -> !torch.list<int>
    %v = torch.aten.view %y, %l : !torch.vtensor<[?,8],f32>, !torch.list<int> -> !torch.vtensor<[?],f32>
    return %n, %v : !torch.int, !torch.vtensor<[?],f32>
  }
  func.func @backward(%n: !torch.int {residency.slot = @n}, %v: !torch.vtensor<[?],f32> {residency.slot = @v}) -> !torch.vtensor<[?],f32> {
    %0 = torch.aten.exp %v : !torch.vtensor<[?],f32> -> !torch.vtensor<[?],f32>
    return %0 : !torch.vtensor<[?],f32>
  }
}

// -----

// CHECK-LABEL: module @a_view_that_takes_another_number_stays
// CHECK: "residency.slot"() {reason = "a view that is saved as it is, torch.aten.view: backward lacks a number that it takes", sym_name = "v"
// CHECK: %[[V:.*]] = torch.aten.view
// CHECK: return %[[V]]
module @a_view_that_takes_another_number_stays {
  func.func @forward(%n: !torch.int, %x: !torch.vtensor<[?,8],f32>) -> (!torch.vtensor<[?],f32> {residency.slot = @v}) {
    %y = torch.aten.relu %x : !torch.vtensor<[?,8],f32> -> !torch.vtensor<[?,8],f32>
    %l = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
    %v = torch.aten.view %y, %l : !torch.vtensor<[?,8],f32>, !torch.list<int> -> !torch.vtensor<[?],f32>
    return %v : !torch.vtensor<[?],f32>
  }
  func.func @backward(%v: !torch.vtensor<[?],f32> {residency.slot = @v}) -> !torch.vtensor<[?],f32> {
    %0 = torch.aten.exp %v : !torch.vtensor<[?],f32> -> !torch.vtensor<[?],f32>
    return %0 : !torch.vtensor<[?],f32>
  }
}

// -----

// CHECK-LABEL: module @one_value_under_two_names_is_saved_once
// CHECK: "residency.slot"() {sym_name = "a"
// CHECK-NOT: sym_name = "b"
// CHECK: func.func @forward(%{{.*}}) -> (!torch.vtensor<[4],f32> {residency.slot = @a})
// CHECK: func.func @backward(%[[A:.*]]: !torch.vtensor<[4],f32> {residency.slot = @a})
// CHECK-NEXT: torch.aten.mul.Tensor %[[A]], %[[A]]
module @one_value_under_two_names_is_saved_once {
  func.func @forward(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32> {residency.slot = @a}, !torch.vtensor<[4],f32> {residency.slot = @b}) {
    %y = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    return %y, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
  }
  func.func @backward(%a: !torch.vtensor<[4],f32> {residency.slot = @a}, %b: !torch.vtensor<[4],f32> {residency.slot = @b}) -> !torch.vtensor<[4],f32> {
    %0 = torch.aten.mul.Tensor %a, %b : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    return %0 : !torch.vtensor<[4],f32>
  }
}

// -----

// A result of the user stays what it is; the release behind which a view is taken is not undone.
// CHECK-LABEL: module @a_view_behind_a_release_is_saved_as_what_the_release_yields
// CHECK: %[[R:.*]] = "residency.release"
// CHECK-NEXT: %[[V:.*]] = torch.aten.t %[[R]]
// CHECK-NEXT: return %[[V]], %[[R]]
module @a_view_behind_a_release_is_saved_as_what_the_release_yields {
  "residency.param"() {sym_name = "w", type = !torch.vtensor<[4,4],f32>, shard = !torch.vtensor<[2,4],f32>, group = "0"} : () -> ()
  func.func @forward(%x: !torch.vtensor<[4,4],f32>, %ws: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> {residency.slot = @v}) {
    %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[2,4],f32>) -> !torch.vtensor<[4,4],f32>
    %y = torch.aten.mm %x, %w : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    %r = "residency.release"(%y, %w) {param = @w} : (!torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32>
    %v = torch.aten.t %r : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    return %v, %v : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
  }
  func.func @backward(%v: !torch.vtensor<[4,4],f32> {residency.slot = @v}) -> !torch.vtensor<[4,4],f32> {
    %0 = torch.aten.exp %v : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    return %0 : !torch.vtensor<[4,4],f32>
  }
}
