// RUN: residency-opt --split-input-file --verify-diagnostics -p residency-match-slots %s

// The first offload is named with its place.
module @a_slot_is_offloaded_once {
  func.func @forward(%x: tensor<4xf32>) -> (!residency.host<tensor<4xf32>> {residency.slot = @a}, !residency.host<tensor<4xf32>> {residency.slot = @a}) {
    %0 = "residency.offload"(%x) {slot = @a} : (tensor<4xf32>) -> !residency.host<tensor<4xf32>> loc("model.py":7:1)
    // expected-error@below {{slot @a is offloaded twice, first here: model.py:7}}
    %1 = "residency.offload"(%x) {slot = @a} : (tensor<4xf32>) -> !residency.host<tensor<4xf32>>
    return %0, %1 : !residency.host<tensor<4xf32>>, !residency.host<tensor<4xf32>>
  }
  func.func @backward(%a: !residency.host<tensor<4xf32>> {residency.slot = @a}) -> tensor<4xf32> {
    %y = "residency.reload"(%a) {slot = @a} : (!residency.host<tensor<4xf32>>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module @a_slot_is_reloaded_once {
  func.func @forward(%x: tensor<4xf32>) -> (!residency.host<tensor<4xf32>> {residency.slot = @a}) {
    %0 = "residency.offload"(%x) {slot = @a} : (tensor<4xf32>) -> !residency.host<tensor<4xf32>>
    return %0 : !residency.host<tensor<4xf32>>
  }
  func.func @backward(%a: !residency.host<tensor<4xf32>> {residency.slot = @a}) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = "residency.reload"(%a) {slot = @a} : (!residency.host<tensor<4xf32>>) -> tensor<4xf32> loc("model.py":9:1)
    // expected-error@below {{slot @a is reloaded twice, first here: model.py:9}}
    %1 = "residency.reload"(%a) {slot = @a} : (!residency.host<tensor<4xf32>>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// The slot was declared on the host, so the types agree; only the offload is missing.
module @a_reload_needs_an_offload {
  "residency.slot"() {sym_name = "a", type = tensor<4xf32>, tier = "host"} : () -> ()
  func.func @forward(%h: !residency.host<tensor<4xf32>>) -> (!residency.host<tensor<4xf32>> {residency.slot = @a}) {
    return %h : !residency.host<tensor<4xf32>>
  }
  func.func @backward(%a: !residency.host<tensor<4xf32>> {residency.slot = @a}) -> tensor<4xf32> {
    // expected-error@below {{slot @a is reloaded but never offloaded}}
    %0 = "residency.reload"(%a) {slot = @a} : (!residency.host<tensor<4xf32>>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @an_offload_needs_a_reload {
  func.func @forward(%x: tensor<4xf32>) -> (!residency.host<tensor<4xf32>> {residency.slot = @a}) {
    // expected-error@below {{slot @a is offloaded but never reloaded}}
    %0 = "residency.offload"(%x) {slot = @a} : (tensor<4xf32>) -> !residency.host<tensor<4xf32>>
    return %0 : !residency.host<tensor<4xf32>>
  }
  func.func @backward(%a: !residency.host<tensor<4xf32>> {residency.slot = @a}, %g: tensor<4xf32>) -> tensor<4xf32> {
    return %g : tensor<4xf32>
  }
}

// -----

module @both_sides_have_one_type {
  // expected-error@below {{slot @a is saved as tensor<4xf32>, but read as: tensor<8xf32>}}
  "residency.slot"() {sym_name = "a", type = tensor<4xf32>, tier = "device"} : () -> ()
  func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32> {residency.slot = @a}) {
    return %x : tensor<4xf32>
  }
  func.func @backward(%a: tensor<8xf32> {residency.slot = @a}) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

module @the_slot_has_the_type_of_both_sides {
  // expected-error@below {{slot @a has type tensor<2xf32>, but is used as: tensor<4xf32>}}
  "residency.slot"() {sym_name = "a", type = tensor<2xf32>, tier = "device"} : () -> ()
  func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32> {residency.slot = @a}) {
    return %x : tensor<4xf32>
  }
  func.func @backward(%a: tensor<4xf32> {residency.slot = @a}) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}

// -----

module @what_is_saved_is_read {
  // expected-error@below {{slot @a is saved by forward, but no argument of backward reads it}}
  "residency.slot"() {sym_name = "a", type = tensor<4xf32>, tier = "device"} : () -> ()
  func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32> {residency.slot = @a}) {
    return %x : tensor<4xf32>
  }
  func.func @backward(%g: tensor<4xf32>) -> tensor<4xf32> {
    return %g : tensor<4xf32>
  }
}

// -----

module @what_is_read_is_saved {
  // expected-error@below {{slot @a is read by backward, but no result of forward saves it}}
  "residency.slot"() {sym_name = "a", type = tensor<4xf32>, tier = "device"} : () -> ()
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @backward(%a: tensor<4xf32> {residency.slot = @a}) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}

// -----

module @a_slot_that_moves_is_not_in_tier_device {
  // expected-error@below {{slot @a is moved, but its tier is: device}}
  "residency.slot"() {sym_name = "a", type = tensor<4xf32>, tier = "device"} : () -> ()
  func.func @forward(%x: tensor<4xf32>) -> (!residency.host<tensor<4xf32>> {residency.slot = @a}) {
    %0 = "residency.offload"(%x) {slot = @a} : (tensor<4xf32>) -> !residency.host<tensor<4xf32>>
    return %0 : !residency.host<tensor<4xf32>>
  }
  func.func @backward(%a: !residency.host<tensor<4xf32>> {residency.slot = @a}) -> tensor<4xf32> {
    %0 = "residency.reload"(%a) {slot = @a} : (!residency.host<tensor<4xf32>>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @a_slot_on_the_host_moves {
  // expected-error@below {{slot @a is never moved, but its tier is: host}}
  "residency.slot"() {sym_name = "a", type = tensor<4xf32>, tier = "host"} : () -> ()
  func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32> {residency.slot = @a}) {
    return %x : tensor<4xf32>
  }
  func.func @backward(%a: tensor<4xf32> {residency.slot = @a}) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}

// -----

// Equal types do not help: what belongs together is told by symbol.
module @transfers_and_signatures_name_the_same_slot {
  func.func @forward(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (!residency.host<tensor<4xf32>> {residency.slot = @b}, !residency.host<tensor<4xf32>> {residency.slot = @a}) {
    // expected-error@below {{slot @a is offloaded into the result of: @b}}
    %0 = "residency.offload"(%x) {slot = @a} : (tensor<4xf32>) -> !residency.host<tensor<4xf32>>
    // expected-error@below {{slot @b is offloaded into the result of: @a}}
    %1 = "residency.offload"(%y) {slot = @b} : (tensor<4xf32>) -> !residency.host<tensor<4xf32>>
    return %0, %1 : !residency.host<tensor<4xf32>>, !residency.host<tensor<4xf32>>
  }
  func.func @backward(%a: !residency.host<tensor<4xf32>> {residency.slot = @a}, %b: !residency.host<tensor<4xf32>> {residency.slot = @b}) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-error@below {{slot @b is reloaded from the argument of: @a}}
    %0 = "residency.reload"(%a) {slot = @b} : (!residency.host<tensor<4xf32>>) -> tensor<4xf32>
    // expected-error@below {{slot @a is reloaded from the argument of: @b}}
    %1 = "residency.reload"(%b) {slot = @a} : (!residency.host<tensor<4xf32>>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
