// RUN: residency-opt --split-input-file -p residency-match-slots,residency-offload-saved{budget=400} %s | filecheck %s
// RUN: residency-opt --split-input-file -p residency-match-slots,residency-offload-saved %s | filecheck %s --check-prefix=INFINITE
// RUN: residency-opt --split-input-file -p residency-match-slots,residency-offload-saved{budget=0} %s | filecheck %s --check-prefix=ZERO

// With an infinite budget nothing moves.
// INFINITE-NOT: residency.offload
// INFINITE-NOT: residency.reload

// Budgets are bytes; float32 values.
// CHECK-LABEL: module @what_does_not_fit_moves_and_comes_back
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s0", tier = "device"
// CHECK-DAG: "residency.slot"() {reason = "over the budget", sym_name = "s1", tier = "host"
// CHECK: func.func @forward(%[[X0:.*]]: !torch.vtensor<[100],f32>, %[[X1:.*]]: !torch.vtensor<[50],f32>) -> (!torch.vtensor<[100],f32> {residency.slot = @s0}, !residency.host<!torch.vtensor<[50],f32>> {residency.slot = @s1})
// CHECK: %[[Y0:.*]] = torch.aten.exp %[[X0]]
// CHECK: %[[Y1:.*]] = torch.aten.exp %[[X1]]
// CHECK: %[[H:.*]] = "residency.offload"(%[[Y1]]) {slot = @s1}
// CHECK-NEXT: return %[[Y0]], %[[H]]
// CHECK: func.func @backward(%[[A:.*]]: !torch.vtensor<[100],f32> {residency.slot = @s0}, %[[B:.*]]: !residency.host<!torch.vtensor<[50],f32>> {residency.slot = @s1})
// CHECK-NEXT: %[[R:.*]] = "residency.reload"(%[[B]]) {slot = @s1}
// CHECK-NEXT: torch.aten.exp %[[A]]
// CHECK-NEXT: torch.aten.exp %[[R]]
// ZERO-LABEL: module @what_does_not_fit_moves_and_comes_back
// ZERO-COUNT-2: residency.offload
// ZERO-COUNT-2: residency.reload
module @what_does_not_fit_moves_and_comes_back {
  func.func @forward(%x0: !torch.vtensor<[100],f32>, %x1: !torch.vtensor<[50],f32>) -> (!torch.vtensor<[100],f32> {residency.slot = @s0}, !torch.vtensor<[50],f32> {residency.slot = @s1}) {
    %y0 = torch.aten.exp %x0 : !torch.vtensor<[100],f32> -> !torch.vtensor<[100],f32>
    %y1 = torch.aten.exp %x1 : !torch.vtensor<[50],f32> -> !torch.vtensor<[50],f32>
    return %y0, %y1 : !torch.vtensor<[100],f32>, !torch.vtensor<[50],f32>
  }
  func.func @backward(%y0: !torch.vtensor<[100],f32> {residency.slot = @s0}, %y1: !torch.vtensor<[50],f32> {residency.slot = @s1}) -> (!torch.vtensor<[100],f32>, !torch.vtensor<[50],f32>) {
    %z0 = torch.aten.exp %y0 : !torch.vtensor<[100],f32> -> !torch.vtensor<[100],f32>
    %z1 = torch.aten.exp %y1 : !torch.vtensor<[50],f32> -> !torch.vtensor<[50],f32>
    return %z0, %z1 : !torch.vtensor<[100],f32>, !torch.vtensor<[50],f32>
  }
}

// -----

// 400 bytes: the first is too large, the others fit.
// CHECK-LABEL: module @a_value_that_does_not_fit_is_not_the_end
// CHECK-DAG: "residency.slot"() {reason = "over the budget", sym_name = "s0", tier = "host"
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s1", tier = "device"
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s2", tier = "device"
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s3", tier = "device"
module @a_value_that_does_not_fit_is_not_the_end {
  func.func @forward(%x0: !torch.vtensor<[101],f32>, %x1: !torch.vtensor<[60],f32>, %x2: !torch.vtensor<[30],f32>, %x3: !torch.vtensor<[10],f32>) -> (!torch.vtensor<[101],f32> {residency.slot = @s0}, !torch.vtensor<[60],f32> {residency.slot = @s1}, !torch.vtensor<[30],f32> {residency.slot = @s2}, !torch.vtensor<[10],f32> {residency.slot = @s3}) {
    %y0 = torch.aten.exp %x0 : !torch.vtensor<[101],f32> -> !torch.vtensor<[101],f32>
    %y1 = torch.aten.exp %x1 : !torch.vtensor<[60],f32> -> !torch.vtensor<[60],f32>
    %y2 = torch.aten.exp %x2 : !torch.vtensor<[30],f32> -> !torch.vtensor<[30],f32>
    %y3 = torch.aten.exp %x3 : !torch.vtensor<[10],f32> -> !torch.vtensor<[10],f32>
    return %y0, %y1, %y2, %y3 : !torch.vtensor<[101],f32>, !torch.vtensor<[60],f32>, !torch.vtensor<[30],f32>, !torch.vtensor<[10],f32>
  }
  func.func @backward(%y0: !torch.vtensor<[101],f32> {residency.slot = @s0}, %y1: !torch.vtensor<[60],f32> {residency.slot = @s1}, %y2: !torch.vtensor<[30],f32> {residency.slot = @s2}, %y3: !torch.vtensor<[10],f32> {residency.slot = @s3}) -> (!torch.vtensor<[101],f32>, !torch.vtensor<[60],f32>, !torch.vtensor<[30],f32>, !torch.vtensor<[10],f32>) {
    %z0 = torch.aten.exp %y0 : !torch.vtensor<[101],f32> -> !torch.vtensor<[101],f32>
    %z1 = torch.aten.exp %y1 : !torch.vtensor<[60],f32> -> !torch.vtensor<[60],f32>
    %z2 = torch.aten.exp %y2 : !torch.vtensor<[30],f32> -> !torch.vtensor<[30],f32>
    %z3 = torch.aten.exp %y3 : !torch.vtensor<[10],f32> -> !torch.vtensor<[10],f32>
    return %z0, %z1, %z2, %z3 : !torch.vtensor<[101],f32>, !torch.vtensor<[60],f32>, !torch.vtensor<[30],f32>, !torch.vtensor<[10],f32>
  }
}

// -----

// 60 alone would leave 40 of 100 unused.
// CHECK-LABEL: module @two_values_stay_rather_than_a_larger_one
// CHECK-DAG: "residency.slot"() {reason = "over the budget", sym_name = "s0", tier = "host"
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s1", tier = "device"
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s2", tier = "device"
module @two_values_stay_rather_than_a_larger_one {
  func.func @forward(%x0: !torch.vtensor<[60],f32>, %x1: !torch.vtensor<[50],f32>, %x2: !torch.vtensor<[50],f32>) -> (!torch.vtensor<[60],f32> {residency.slot = @s0}, !torch.vtensor<[50],f32> {residency.slot = @s1}, !torch.vtensor<[50],f32> {residency.slot = @s2}) {
    %y0 = torch.aten.exp %x0 : !torch.vtensor<[60],f32> -> !torch.vtensor<[60],f32>
    %y1 = torch.aten.exp %x1 : !torch.vtensor<[50],f32> -> !torch.vtensor<[50],f32>
    %y2 = torch.aten.exp %x2 : !torch.vtensor<[50],f32> -> !torch.vtensor<[50],f32>
    return %y0, %y1, %y2 : !torch.vtensor<[60],f32>, !torch.vtensor<[50],f32>, !torch.vtensor<[50],f32>
  }
  func.func @backward(%y0: !torch.vtensor<[60],f32> {residency.slot = @s0}, %y1: !torch.vtensor<[50],f32> {residency.slot = @s1}, %y2: !torch.vtensor<[50],f32> {residency.slot = @s2}) -> (!torch.vtensor<[60],f32>, !torch.vtensor<[50],f32>, !torch.vtensor<[50],f32>) {
    %z0 = torch.aten.exp %y0 : !torch.vtensor<[60],f32> -> !torch.vtensor<[60],f32>
    %z1 = torch.aten.exp %y1 : !torch.vtensor<[50],f32> -> !torch.vtensor<[50],f32>
    %z2 = torch.aten.exp %y2 : !torch.vtensor<[50],f32> -> !torch.vtensor<[50],f32>
    return %z0, %z1, %z2 : !torch.vtensor<[60],f32>, !torch.vtensor<[50],f32>, !torch.vtensor<[50],f32>
  }
}

// -----

// CHECK-LABEL: module @a_value_that_the_user_gets_is_the_last_to_move
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s0", tier = "device"
// CHECK-DAG: "residency.slot"() {reason = "over the budget", sym_name = "s1", tier = "host"
// ZERO-LABEL: module @a_value_that_the_user_gets_is_the_last_to_move
// ZERO-DAG: reason = "over the budget; the caller holds its own copy", sym_name = "s0", tier = "host"
// ZERO: %[[Y:.*]] = torch.aten.exp
// ZERO: %[[H:.*]] = "residency.offload"(%[[Y]]) {slot = @s0}
// ZERO: return %[[Y]], %[[H]]
module @a_value_that_the_user_gets_is_the_last_to_move {
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

// The first value cannot move and takes 240 of 400 bytes, so that only one of the others may stay.
// CHECK-LABEL: module @values_that_cannot_move_count_first
// CHECK-DAG: "residency.slot"() {reason = "sparse layout", stays = "sparse layout", sym_name = "s0", tier = "device"
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s1", tier = "device"
// CHECK-DAG: "residency.slot"() {reason = "over the budget", sym_name = "s2", tier = "host"
module @values_that_cannot_move_count_first {
  "residency.slot"() {sym_name = "s0", type = !torch.vtensor<[60],f32>, tier = "device", stays = "sparse layout"} : () -> ()
  func.func @forward(%x0: !torch.vtensor<[60],f32>, %x1: !torch.vtensor<[30],f32>, %x2: !torch.vtensor<[30],f32>) -> (!torch.vtensor<[60],f32> {residency.slot = @s0}, !torch.vtensor<[30],f32> {residency.slot = @s1}, !torch.vtensor<[30],f32> {residency.slot = @s2}) {
    %y0 = torch.aten.exp %x0 : !torch.vtensor<[60],f32> -> !torch.vtensor<[60],f32>
    %y1 = torch.aten.exp %x1 : !torch.vtensor<[30],f32> -> !torch.vtensor<[30],f32>
    %y2 = torch.aten.exp %x2 : !torch.vtensor<[30],f32> -> !torch.vtensor<[30],f32>
    return %y0, %y1, %y2 : !torch.vtensor<[60],f32>, !torch.vtensor<[30],f32>, !torch.vtensor<[30],f32>
  }
  func.func @backward(%y0: !torch.vtensor<[60],f32> {residency.slot = @s0}, %y1: !torch.vtensor<[30],f32> {residency.slot = @s1}, %y2: !torch.vtensor<[30],f32> {residency.slot = @s2}) -> (!torch.vtensor<[60],f32>, !torch.vtensor<[30],f32>, !torch.vtensor<[30],f32>) {
    %z0 = torch.aten.exp %y0 : !torch.vtensor<[60],f32> -> !torch.vtensor<[60],f32>
    %z1 = torch.aten.exp %y1 : !torch.vtensor<[30],f32> -> !torch.vtensor<[30],f32>
    %z2 = torch.aten.exp %y2 : !torch.vtensor<[30],f32> -> !torch.vtensor<[30],f32>
    return %z0, %z1, %z2 : !torch.vtensor<[60],f32>, !torch.vtensor<[30],f32>, !torch.vtensor<[30],f32>
  }
}

// -----

// CHECK-LABEL: module @arguments_and_their_aliases_never_move
// CHECK-DAG: reason = "an alias of a graph input: the caller holds it", sym_name = "a", tier = "device"
// CHECK-DAG: reason = "an alias of a graph input: the caller holds it", sym_name = "v", tier = "device"
// CHECK-NOT: residency.offload
// ZERO-LABEL: module @arguments_and_their_aliases_never_move
// ZERO-NOT: "residency.offload"(%{{.*}}) {slot = @a}
// ZERO-NOT: "residency.offload"(%{{.*}}) {slot = @v}
module @arguments_and_their_aliases_never_move {
  func.func @forward(%x: !torch.vtensor<[400],f32>, %w: !torch.vtensor<[20,40],f32>) -> (!torch.vtensor<[400],f32> {residency.slot = @a}, !torch.vtensor<[40,20],f32> {residency.slot = @v}) {
    %v = torch.aten.t %w : !torch.vtensor<[20,40],f32> -> !torch.vtensor<[40,20],f32>
    return %x, %v : !torch.vtensor<[400],f32>, !torch.vtensor<[40,20],f32>
  }
  func.func @backward(%a: !torch.vtensor<[400],f32> {residency.slot = @a}, %v: !torch.vtensor<[40,20],f32> {residency.slot = @v}) -> (!torch.vtensor<[400],f32>, !torch.vtensor<[40,20],f32>) {
    return %a, %v : !torch.vtensor<[400],f32>, !torch.vtensor<[40,20],f32>
  }
}

// -----

// Moving one of two values that share a storage would free nothing.
// CHECK-LABEL: module @values_that_share_a_storage_stay_together
// CHECK-DAG: reason = "shares its storage with slot @v", sym_name = "y", tier = "device"
// CHECK-DAG: reason = "shares its storage with slot @y", sym_name = "v", tier = "device"
// CHECK-NOT: residency.offload
module @values_that_share_a_storage_stay_together {
  func.func @forward(%x: !torch.vtensor<[20,20],f32>) -> (!torch.vtensor<[20,20],f32> {residency.slot = @y}, !torch.vtensor<[20,20],f32> {residency.slot = @v}) {
    %y = torch.aten.exp %x : !torch.vtensor<[20,20],f32> -> !torch.vtensor<[20,20],f32>
    %v = torch.aten.t %y : !torch.vtensor<[20,20],f32> -> !torch.vtensor<[20,20],f32>
    return %y, %v : !torch.vtensor<[20,20],f32>, !torch.vtensor<[20,20],f32>
  }
  func.func @backward(%y: !torch.vtensor<[20,20],f32> {residency.slot = @y}, %v: !torch.vtensor<[20,20],f32> {residency.slot = @v}) -> !torch.vtensor<[20,20],f32> {
    %0 = torch.aten.mm %y, %v : !torch.vtensor<[20,20],f32>, !torch.vtensor<[20,20],f32> -> !torch.vtensor<[20,20],f32>
    return %0 : !torch.vtensor<[20,20],f32>
  }
}

// -----

// CHECK-LABEL: module @a_value_of_symbolic_size_moves_under_a_finite_budget
// CHECK: reason = "its size is not known before the step runs", sym_name = "y", tier = "host"
// CHECK: "residency.offload"(%{{.*}}) {slot = @y} : (!torch.vtensor<[?],f32>) -> !residency.host<!torch.vtensor<[?],f32>>
module @a_value_of_symbolic_size_moves_under_a_finite_budget {
  func.func @forward(%x: !torch.vtensor<[?],f32>) -> (!torch.vtensor<[?],f32> {residency.slot = @y}) {
    %y = torch.aten.exp %x : !torch.vtensor<[?],f32> -> !torch.vtensor<[?],f32>
    return %y : !torch.vtensor<[?],f32>
  }
  func.func @backward(%y: !torch.vtensor<[?],f32> {residency.slot = @y}) -> !torch.vtensor<[?],f32> {
    return %y : !torch.vtensor<[?],f32>
  }
}

// -----

// One copy for two readers.
// CHECK-LABEL: module @a_value_that_is_saved_twice_moves_once
// CHECK: %[[H:.*]] = "residency.offload"(%{{.*}}) {slot = @y}
// CHECK-NEXT: return %[[H]], %[[H]]
// CHECK: func.func @backward(%[[A:.*]]: !residency.host<!torch.vtensor<[200],f32>> {residency.slot = @y}, %{{.*}}: !residency.host<!torch.vtensor<[200],f32>> {residency.slot = @y})
// CHECK-NEXT: %[[R:.*]] = "residency.reload"(%[[A]]) {slot = @y}
// CHECK-NEXT: torch.aten.mul.Tensor %[[R]], %[[R]]
module @a_value_that_is_saved_twice_moves_once {
  func.func @forward(%x: !torch.vtensor<[200],f32>) -> (!torch.vtensor<[200],f32> {residency.slot = @y}, !torch.vtensor<[200],f32> {residency.slot = @y}) {
    %y = torch.aten.exp %x : !torch.vtensor<[200],f32> -> !torch.vtensor<[200],f32>
    return %y, %y : !torch.vtensor<[200],f32>, !torch.vtensor<[200],f32>
  }
  func.func @backward(%y0: !torch.vtensor<[200],f32> {residency.slot = @y}, %y1: !torch.vtensor<[200],f32> {residency.slot = @y}) -> !torch.vtensor<[200],f32> {
    %0 = torch.aten.mul.Tensor %y0, %y1 : !torch.vtensor<[200],f32>, !torch.vtensor<[200],f32> -> !torch.vtensor<[200],f32>
    return %0 : !torch.vtensor<[200],f32>
  }
}
