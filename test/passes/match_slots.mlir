// RUN: residency-opt --split-input-file -p residency-match-slots %s | filecheck %s

// CHECK-LABEL: module @slots_that_are_only_named_get_symbols_in_order
// CHECK-NEXT: "residency.slot"() {sym_name = "a", tier = "device", type = tensor<4xf32>}
// CHECK-NEXT: "residency.slot"() {sym_name = "b", tier = "host", type = tensor<8xf32>}
// CHECK-NEXT: func.func @forward
module @slots_that_are_only_named_get_symbols_in_order {
  func.func @forward(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<4xf32> {residency.slot = @a}, !residency.host<tensor<8xf32>> {residency.slot = @b}) {
    %h = "residency.offload"(%y) {slot = @b} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
    return %x, %h : tensor<4xf32>, !residency.host<tensor<8xf32>>
  }
  func.func @backward(%a: tensor<4xf32> {residency.slot = @a}, %b: !residency.host<tensor<8xf32>> {residency.slot = @b}) -> tensor<8xf32> {
    %y = "residency.reload"(%b) {slot = @b} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// -----

// CHECK-LABEL: module @slots_that_nothing_refers_to_are_erased
// CHECK-NOT: unused
// CHECK: func.func @forward
module @slots_that_nothing_refers_to_are_erased {
  "residency.slot"() {sym_name = "unused", type = tensor<4xf32>, tier = "device"} : () -> ()
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// CHECK-LABEL: module @an_argument_that_repeats_a_slot_passes_its_readers_on
// CHECK: func.func @backward(%[[FIRST:.*]]: tensor<4xf32> {residency.slot = @a}, %{{.*}}: tensor<4xf32> {residency.slot = @a})
// CHECK-NEXT: return %[[FIRST]], %[[FIRST]]
module @an_argument_that_repeats_a_slot_passes_its_readers_on {
  func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32> {residency.slot = @a}, tensor<4xf32> {residency.slot = @a}) {
    return %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  func.func @backward(%0: tensor<4xf32> {residency.slot = @a}, %1: tensor<4xf32> {residency.slot = @a}) -> (tensor<4xf32>, tensor<4xf32>) {
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// CHECK-LABEL: module @scheduled_transfers_match_too
// CHECK: "residency.offload_start"(%{{.*}}) {slot = @a}
// CHECK: "residency.reload_start"(%{{.*}}) {slot = @a}
module @scheduled_transfers_match_too {
  func.func @forward(%x: tensor<4xf32>) -> (!residency.host<tensor<4xf32>> {residency.slot = @a}) {
    %p = "residency.offload_start"(%x) {slot = @a} : (tensor<4xf32>) -> !residency.pending<!residency.host<tensor<4xf32>>>
    %h = "residency.wait"(%p) : (!residency.pending<!residency.host<tensor<4xf32>>>) -> !residency.host<tensor<4xf32>>
    return %h : !residency.host<tensor<4xf32>>
  }
  func.func @backward(%a: !residency.host<tensor<4xf32>> {residency.slot = @a}) -> tensor<4xf32> {
    %p = "residency.reload_start"(%a) {slot = @a} : (!residency.host<tensor<4xf32>>) -> !residency.pending<tensor<4xf32>>
    %x = "residency.wait"(%p) : (!residency.pending<tensor<4xf32>>) -> tensor<4xf32>
    return %x : tensor<4xf32>
  }
}
