// RUN: residency-opt --split-input-file -p residency-match-slots,residency-sink-views %s -o %t.before
// RUN: residency-opt --split-input-file -p residency-match-slots,residency-sink-views,residency-offload-saved{budget=0},residency-undo-offload %s -o %t.after
// RUN: cmp %t.before %t.after
// RUN: filecheck %s --input-file=%t.after

// CHECK-LABEL: module @a_value_that_the_user_gets_too_is_taken_back
module @a_value_that_the_user_gets_too_is_taken_back {
  func.func @forward(%x0: !torch.vtensor<[60],f32>, %x1: !torch.vtensor<[100],f32>) -> (!torch.vtensor<[60],f32>, !torch.vtensor<[60],f32> {residency.slot = @s0}, !torch.vtensor<[100],f32> {residency.slot = @s1}) {
    %y0 = torch.aten.exp %x0 : !torch.vtensor<[60],f32> -> !torch.vtensor<[60],f32>
    %y1 = torch.aten.exp %x1 : !torch.vtensor<[100],f32> -> !torch.vtensor<[100],f32>
    return %y0, %y0, %y1 : !torch.vtensor<[60],f32>, !torch.vtensor<[60],f32>, !torch.vtensor<[100],f32>
  }
  func.func @backward(%y0: !torch.vtensor<[60],f32> {residency.slot = @s0}, %y1: !torch.vtensor<[100],f32> {residency.slot = @s1}) -> (!torch.vtensor<[60],f32>, !torch.vtensor<[100],f32>) {
    %z0 = torch.aten.exp %y0 : !torch.vtensor<[60],f32> -> !torch.vtensor<[60],f32>
    %z1 = torch.aten.exp %y1 : !torch.vtensor<[100],f32> -> !torch.vtensor<[100],f32>
    return %z0, %z1 : !torch.vtensor<[60],f32>, !torch.vtensor<[100],f32>
  }
}

// -----

// CHECK-LABEL: module @a_value_saved_twice_is_taken_back
module @a_value_saved_twice_is_taken_back {
  func.func @forward(%x: !torch.vtensor<[200],f32>) -> (!torch.vtensor<[200],f32> {residency.slot = @s0}, !torch.vtensor<[200],f32> {residency.slot = @s0}) {
    %y = torch.aten.exp %x : !torch.vtensor<[200],f32> -> !torch.vtensor<[200],f32>
    return %y, %y : !torch.vtensor<[200],f32>, !torch.vtensor<[200],f32>
  }
  func.func @backward(%y0: !torch.vtensor<[200],f32> {residency.slot = @s0}, %y1: !torch.vtensor<[200],f32> {residency.slot = @s0}) -> !torch.vtensor<[200],f32> {
    %0 = torch.aten.mul.Tensor %y0, %y1 : !torch.vtensor<[200],f32>, !torch.vtensor<[200],f32> -> !torch.vtensor<[200],f32>
    return %0 : !torch.vtensor<[200],f32>
  }
}

// -----

// The reason that sink-views gave is there again, without the one for the tier.
// CHECK-LABEL: module @the_reason_that_a_view_stays_is_kept
// CHECK: "residency.slot"() {reason = "a view that is saved as it is, torch.aten.view: backward lacks a number that it takes", sym_name = "s0", tier = "device"
module @the_reason_that_a_view_stays_is_kept {
  func.func @forward(%n: !torch.int, %x: !torch.vtensor<[?,8],f32>) -> (!torch.vtensor<[?],f32> {residency.slot = @s0}) {
    %y = torch.aten.relu %x : !torch.vtensor<[?,8],f32> -> !torch.vtensor<[?,8],f32>
    %l = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
    %v = torch.aten.view %y, %l : !torch.vtensor<[?,8],f32>, !torch.list<int> -> !torch.vtensor<[?],f32>
    return %v : !torch.vtensor<[?],f32>
  }
  func.func @backward(%v: !torch.vtensor<[?],f32> {residency.slot = @s0}) -> !torch.vtensor<[?],f32> {
    return %v : !torch.vtensor<[?],f32>
  }
}
