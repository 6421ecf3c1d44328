// RUN: residency-opt --split-input-file -p residency-schedule-transfers %s | filecheck %s
// RUN: residency-opt --split-input-file -p "residency-schedule-transfers{inflight=1000 lookahead=1000}" %s | filecheck %s --check-prefix=WIDE
// RUN: residency-opt --split-input-file -p "residency-schedule-transfers{inflight=32 lookahead=64}" %s | filecheck %s --check-prefix=NARROW

// A read through a view is a read of the storage.
// CHECK-LABEL: @an_offload_starts_after_the_last_read_of_its_storage
// CHECK: %[[Y:.*]] = math.exp
// CHECK-NEXT: %[[V:.*]] = tensor.expand_shape %[[Y]]
// CHECK-NEXT: math.sin %[[V]]
// CHECK-NEXT: %[[P:.*]] = "residency.offload_start"(%[[Y]]) {slot = @s}
// CHECK-NEXT: math.cos
// CHECK-NEXT: %[[H:.*]] = "residency.wait"(%[[P]])
// CHECK-NEXT: "residency.free"(%[[Y]])
// CHECK-NEXT: return %[[H]]
func.func @an_offload_starts_after_the_last_read_of_its_storage(%x: tensor<8xf32>) -> (!residency.host<tensor<8xf32>>, tensor<2x4xf32>, tensor<8xf32>) {
  %y = math.exp %x : tensor<8xf32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %z = math.sin %v : tensor<2x4xf32>
  %u = math.cos %x : tensor<8xf32>
  %h = "residency.offload"(%y) {slot = @s} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
  return %h, %z, %u : !residency.host<tensor<8xf32>>, tensor<2x4xf32>, tensor<8xf32>
}

// -----

// Two may be on the way: the first returns its memory when the third is about to start.
// CHECK-LABEL: @memory_returns_while_forward_goes_on
// CHECK: %[[A:.*]] = math.exp
// CHECK-NEXT: %[[B:.*]] = math.exp %[[A]]
// CHECK-NEXT: %[[PA:.*]] = "residency.offload_start"(%[[A]]) {slot = @a}
// CHECK-NEXT: %[[C:.*]] = math.exp %[[B]]
// CHECK-NEXT: %[[PB:.*]] = "residency.offload_start"(%[[B]]) {slot = @b}
// CHECK-NEXT: %[[D:.*]] = math.exp %[[C]]
// CHECK-NEXT: %[[HA:.*]] = "residency.wait"(%[[PA]])
// CHECK-NEXT: "residency.free"(%[[A]])
// CHECK-NEXT: %[[PC:.*]] = "residency.offload_start"(%[[C]]) {slot = @c}
// CHECK-NEXT: %[[HB:.*]] = "residency.wait"(%[[PB]])
// CHECK-NEXT: "residency.free"(%[[B]])
// CHECK-NEXT: %[[HC:.*]] = "residency.wait"(%[[PC]])
// CHECK-NEXT: "residency.free"(%[[C]])
// CHECK-NEXT: return %[[HA]], %[[HB]], %[[HC]], %[[D]]

// WIDE-LABEL: @memory_returns_while_forward_goes_on
// WIDE: offload_start
// WIDE-NOT: residency.wait
// WIDE: offload_start
// WIDE-NOT: residency.wait
// WIDE: offload_start
// WIDE-NEXT: residency.wait
func.func @memory_returns_while_forward_goes_on(%x: tensor<8xf32>) -> (!residency.host<tensor<8xf32>>, !residency.host<tensor<8xf32>>, !residency.host<tensor<8xf32>>, tensor<8xf32>) {
  %a = math.exp %x : tensor<8xf32>
  %b = math.exp %a : tensor<8xf32>
  %c = math.exp %b : tensor<8xf32>
  %d = math.exp %c : tensor<8xf32>
  %ha = "residency.offload"(%a) {slot = @a} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
  %hb = "residency.offload"(%b) {slot = @b} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
  %hc = "residency.offload"(%c) {slot = @c} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
  return %ha, %hb, %hc, %d : !residency.host<tensor<8xf32>>, !residency.host<tensor<8xf32>>, !residency.host<tensor<8xf32>>, tensor<8xf32>
}

// -----

// CHECK-LABEL: @a_storage_that_the_caller_gets_is_not_freed
// CHECK: residency.offload_start
// CHECK: residency.wait
// CHECK-NOT: residency.free
// CHECK: return
func.func @a_storage_that_the_caller_gets_is_not_freed(%x: tensor<8xf32>) -> (!residency.host<tensor<8xf32>>, tensor<2x4xf32>) {
  %y = math.exp %x : tensor<8xf32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %h = "residency.offload"(%y) {slot = @s} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
  return %h, %v : !residency.host<tensor<8xf32>>, tensor<2x4xf32>
}

// -----

// CHECK-LABEL: @a_storage_that_the_caller_gave_is_not_freed
// CHECK: residency.offload_start
// CHECK: residency.wait
// CHECK-NOT: residency.free
// CHECK: return
func.func @a_storage_that_the_caller_gave_is_not_freed(%x: tensor<8xf32>) -> !residency.host<tensor<8xf32>> {
  %h = "residency.offload"(%x) {slot = @s} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
  return %h : !residency.host<tensor<8xf32>>
}

// -----

// However many were offloaded, one is in use while two come: the fourth starts only once the second is waited for.
// CHECK-LABEL: @few_reloads_are_on_the_device_at_once
// CHECK: %[[PD:.*]] = "residency.reload_start"(%{{.*}}) {slot = @d}
// CHECK-NEXT: %[[PC:.*]] = "residency.reload_start"(%{{.*}}) {slot = @c}
// CHECK-NEXT: %[[D:.*]] = "residency.wait"(%[[PD]])
// CHECK-NEXT: %[[PB:.*]] = "residency.reload_start"(%{{.*}}) {slot = @b}
// CHECK-NEXT: arith.mulf %{{.*}}, %[[D]]
// CHECK-NEXT: "residency.free"(%[[D]])
// CHECK-NEXT: %[[C:.*]] = "residency.wait"(%[[PC]])
// CHECK-NEXT: %[[PA:.*]] = "residency.reload_start"(%{{.*}}) {slot = @a}
// CHECK-NEXT: arith.mulf %{{.*}}, %[[C]]
// CHECK-NEXT: "residency.free"(%[[C]])
// CHECK-NEXT: %[[B:.*]] = "residency.wait"(%[[PB]])
// CHECK-NEXT: arith.mulf %{{.*}}, %[[B]]
// CHECK-NEXT: "residency.free"(%[[B]])
// CHECK-NEXT: %[[A:.*]] = "residency.wait"(%[[PA]])
// CHECK-NEXT: arith.mulf %{{.*}}, %[[A]]
// CHECK-NEXT: "residency.free"(%[[A]])
// CHECK-NEXT: return

// WIDE-LABEL: @few_reloads_are_on_the_device_at_once
// WIDE: reload_start
// WIDE-NEXT: reload_start
// WIDE-NEXT: reload_start
// WIDE-NEXT: reload_start
// WIDE-NEXT: residency.wait
// WIDE-NEXT: arith.mulf
func.func @few_reloads_are_on_the_device_at_once(%a: !residency.host<tensor<8xf32>>, %b: !residency.host<tensor<8xf32>>, %c: !residency.host<tensor<8xf32>>, %d: !residency.host<tensor<8xf32>>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %ra = "residency.reload"(%a) {slot = @a} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %rb = "residency.reload"(%b) {slot = @b} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %rc = "residency.reload"(%c) {slot = @c} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %rd = "residency.reload"(%d) {slot = @d} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %1 = arith.mulf %g, %rd : tensor<8xf32>
  %2 = arith.mulf %1, %rc : tensor<8xf32>
  %3 = arith.mulf %2, %rb : tensor<8xf32>
  %4 = arith.mulf %3, %ra : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// The wait comes before the view, the free after the last reader of the view.
// CHECK-LABEL: @a_reload_lives_as_long_as_its_views
// CHECK: math.exp
// CHECK-NEXT: %[[X:.*]] = "residency.wait"
// CHECK-NEXT: %[[V:.*]] = tensor.expand_shape %[[X]]
// CHECK-NEXT: math.sin %[[X]]
// CHECK-NEXT: math.cos
// CHECK-NEXT: math.exp %[[V]]
// CHECK-NEXT: "residency.free"(%[[X]])
// CHECK-NEXT: math.cos
func.func @a_reload_lives_as_long_as_its_views(%h: !residency.host<tensor<8xf32>>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<2x4xf32>, tensor<8xf32>) {
  %x = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %e = math.exp %g : tensor<8xf32>
  %v = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %a = math.sin %x : tensor<8xf32>
  %b = math.cos %e : tensor<8xf32>
  %c = math.exp %v : tensor<2x4xf32>
  %d = math.cos %b : tensor<8xf32>
  return %a, %c, %d : tensor<8xf32>, tensor<2x4xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: @a_reload_that_is_returned_is_not_freed
// CHECK: %[[X:.*]] = "residency.wait"
// CHECK-NOT: residency.free
// CHECK: return %[[X]]
func.func @a_reload_that_is_returned_is_not_freed(%h: !residency.host<tensor<8xf32>>) -> tensor<8xf32> {
  %x = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  return %x : tensor<8xf32>
}

// -----

// The slot must be given back, whether its value is read or not.
// CHECK-LABEL: @a_reload_that_nobody_reads_is_freed
// CHECK: %[[P:.*]] = "residency.reload_start"
// CHECK: %[[X:.*]] = "residency.wait"(%[[P]])
// CHECK: "residency.free"(%[[X]])
// CHECK-NEXT: return
func.func @a_reload_that_nobody_reads_is_freed(%h: !residency.host<tensor<8xf32>>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %x = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %e = math.exp %g : tensor<8xf32>
  return %e : tensor<8xf32>
}

// -----

// Between two cuts compute stays whole: the offload starts at the next one, though its last read is long past.
// CHECK-LABEL: @an_offload_waits_for_the_next_cut
// CHECK: %[[Y:.*]] = math.exp
// CHECK-NEXT: math.sin
// CHECK-NEXT: math.cos %{{.*}} {residency.cut}
// CHECK-NEXT: "residency.offload_start"(%[[Y]])
// CHECK-NEXT: math.tanh
// CHECK-NEXT: residency.wait
// CHECK-NEXT: "residency.free"(%[[Y]])
func.func @an_offload_waits_for_the_next_cut(%x: tensor<8xf32>) -> (!residency.host<tensor<8xf32>>, tensor<8xf32>) {
  %y = math.exp %x : tensor<8xf32>
  %a = math.sin %x : tensor<8xf32>
  %b = math.cos %a {residency.cut} : tensor<8xf32>
  %c = math.tanh %b : tensor<8xf32>
  %h = "residency.offload"(%y) {slot = @s} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
  return %h, %c : !residency.host<tensor<8xf32>>, tensor<8xf32>
}

// -----

// CHECK-LABEL: @a_reload_is_there_at_the_cut_before_its_use_and_freed_at_the_one_after
// CHECK: residency.reload_start
// CHECK-NEXT: math.exp %{{.*}} {residency.cut}
// CHECK-NEXT: %[[X:.*]] = "residency.wait"
// CHECK-NEXT: math.sin
// CHECK-NEXT: arith.mulf %{{.*}}, %[[X]]
// CHECK-NEXT: math.cos %{{.*}} {residency.cut}
// CHECK-NEXT: "residency.free"(%[[X]])
// CHECK-NEXT: math.tanh
func.func @a_reload_is_there_at_the_cut_before_its_use_and_freed_at_the_one_after(%h: !residency.host<tensor<8xf32>>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %x = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %a = math.exp %g {residency.cut} : tensor<8xf32>
  %b = math.sin %a : tensor<8xf32>
  %c = arith.mulf %b, %x : tensor<8xf32>
  %d = math.cos %c {residency.cut} : tensor<8xf32>
  %e = math.tanh %d : tensor<8xf32>
  return %e : tensor<8xf32>
}

// -----

// CHECK-LABEL: @collectives_start_where_they_were_placed_and_releases_free
// CHECK: %[[PW:.*]] = "residency.gather_start"(%{{.*}}) {param = @w}
// CHECK-NEXT: %[[W:.*]] = "residency.wait"(%[[PW]])
// CHECK-NEXT: %[[Y:.*]] = arith.addf %{{.*}}, %[[W]]
// CHECK-NEXT: "residency.free"(%[[W]])
// CHECK-NEXT: %[[PG:.*]] = "residency.reduce_start"(%[[Y]]) {param = @w}
// CHECK-NEXT: %[[G:.*]] = "residency.wait"(%[[PG]])
// CHECK-NEXT: return %[[G]], %[[Y]]
func.func @collectives_start_where_they_were_placed_and_releases_free(%x: tensor<8xf32>, %ws: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %w = "residency.gather"(%ws) {param = @w} : (tensor<4xf32>) -> tensor<8xf32>
  %y = arith.addf %x, %w : tensor<8xf32>
  %r = "residency.release"(%y, %w) {param = @w} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %g = "residency.reduce"(%r) {param = @w} : (tensor<8xf32>) -> tensor<4xf32>
  return %g, %r : tensor<4xf32>, tensor<8xf32>
}

// -----

// The view comes after the last op that reads bytes: the offload need not wait for it. The caller gets the storage all the same.
// CHECK-LABEL: @a_view_is_no_read
// CHECK: %[[Y:.*]] = torch.aten.exp
// CHECK-NEXT: torch.aten.sin %[[Y]]
// CHECK-NEXT: %[[P:.*]] = "residency.offload_start"(%[[Y]]) {slot = @s}
// CHECK-NEXT: torch.aten.cos
// CHECK-NEXT: %[[V:.*]] = torch.aten.t %[[Y]]
// CHECK-NEXT: %[[H:.*]] = "residency.wait"(%[[P]])
// CHECK-NEXT: return %[[H]], %{{.*}}, %[[V]]
func.func @a_view_is_no_read(%x: !torch.vtensor<[4,6],f32>) -> (!residency.host<!torch.vtensor<[4,6],f32>>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,4],f32>) {
  %y = torch.aten.exp %x : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  %a = torch.aten.sin %y : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  %b = torch.aten.cos %a : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  %v = torch.aten.t %y : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[6,4],f32>
  %h = "residency.offload"(%y) {slot = @s} : (!torch.vtensor<[4,6],f32>) -> !residency.host<!torch.vtensor<[4,6],f32>>
  return %h, %b, %v : !residency.host<!torch.vtensor<[4,6],f32>>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,4],f32>
}

// -----

// Only the last one to end frees: what is on the way, or has yet to start, reads the storage.
// CHECK-LABEL: @a_storage_that_is_offloaded_twice_is_freed_once
// CHECK: %[[Y:.*]] = math.exp
// CHECK-NEXT: %[[PA:.*]] = "residency.offload_start"(%[[Y]]) {slot = @a}
// CHECK-NEXT: %[[V:.*]] = tensor.expand_shape %[[Y]]
// CHECK-NEXT: %[[PB:.*]] = "residency.offload_start"(%[[V]]) {slot = @b}
// CHECK-NEXT: "residency.wait"(%[[PA]])
// CHECK-NEXT: "residency.wait"(%[[PB]])
// CHECK-NEXT: "residency.free"(%[[V]])
// CHECK-NEXT: return

// NARROW-LABEL: @a_storage_that_is_offloaded_twice_is_freed_once
// NARROW: %[[PA:.*]] = "residency.offload_start"(%{{.*}}) {slot = @a}
// NARROW-NEXT: %[[V:.*]] = tensor.expand_shape
// NARROW-NEXT: "residency.wait"(%[[PA]])
// NARROW-NEXT: %[[PB:.*]] = "residency.offload_start"(%[[V]]) {slot = @b}
// NARROW-NEXT: "residency.wait"(%[[PB]])
// NARROW-NEXT: "residency.free"(%[[V]])
// NARROW-NEXT: return
func.func @a_storage_that_is_offloaded_twice_is_freed_once(%x: tensor<8xf32>) -> (!residency.host<tensor<8xf32>>, !residency.host<tensor<2x4xf32>>) {
  %y = math.exp %x : tensor<8xf32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %a = "residency.offload"(%y) {slot = @a} : (tensor<8xf32>) -> !residency.host<tensor<8xf32>>
  %b = "residency.offload"(%v) {slot = @b} : (tensor<2x4xf32>) -> !residency.host<tensor<2x4xf32>>
  return %a, %b : !residency.host<tensor<8xf32>>, !residency.host<tensor<2x4xf32>>
}

// -----

// CHECK-LABEL: @a_reload_with_a_view_that_is_returned_is_not_freed
// CHECK: %[[X:.*]] = "residency.wait"
// CHECK-NEXT: torch.aten.exp %[[X]]
// CHECK-NEXT: %[[V:.*]] = torch.aten.t %[[X]]
// CHECK-NEXT: return %[[V]]
func.func @a_reload_with_a_view_that_is_returned_is_not_freed(%h: !residency.host<!torch.vtensor<[4,6],f32>>) -> (!torch.vtensor<[6,4],f32>, !torch.vtensor<[4,6],f32>) {
  %x = "residency.reload"(%h) {slot = @s} : (!residency.host<!torch.vtensor<[4,6],f32>>) -> !torch.vtensor<[4,6],f32>
  %e = torch.aten.exp %x : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
  %v = torch.aten.t %x : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[6,4],f32>
  return %v, %e : !torch.vtensor<[6,4],f32>, !torch.vtensor<[4,6],f32>
}

// -----

// 64 bytes are two small values, or less than the large one: that is on the way alone.
// NARROW-LABEL: @reloads_are_hoisted_as_far_as_their_bytes_allow
// NARROW: "residency.reload_start"(%{{.*}}) {slot = @a}
// NARROW-NEXT: "residency.reload_start"(%{{.*}}) {slot = @b}
// NARROW-NEXT: math.exp
// NARROW-NEXT: %[[A:.*]] = "residency.wait"
// NARROW-NEXT: arith.mulf %{{.*}}, %[[A]]
// NARROW-NEXT: "residency.free"(%[[A]])
// NARROW-NEXT: %[[B:.*]] = "residency.wait"
// NARROW-NEXT: %[[P:.*]] = "residency.reload_start"(%{{.*}}) {slot = @large}
// NARROW-NEXT: arith.mulf %{{.*}}, %[[B]]
// NARROW-NEXT: "residency.free"(%[[B]])
// NARROW-NEXT: %[[L:.*]] = "residency.wait"(%[[P]])
// NARROW-NEXT: math.sin %[[L]]
// NARROW-NEXT: "residency.free"(%[[L]])

// WIDE-LABEL: @reloads_are_hoisted_as_far_as_their_bytes_allow
// WIDE: residency.reload_start
// WIDE-NEXT: residency.reload_start
// WIDE-NEXT: "residency.reload_start"(%{{.*}}) {slot = @large}
// WIDE-NEXT: math.exp
func.func @reloads_are_hoisted_as_far_as_their_bytes_allow(%a: !residency.host<tensor<8xf32>>, %b: !residency.host<tensor<8xf32>>, %l: !residency.host<tensor<32xf32>>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<32xf32>) {
  %ra = "residency.reload"(%a) {slot = @a} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %rb = "residency.reload"(%b) {slot = @b} : (!residency.host<tensor<8xf32>>) -> tensor<8xf32>
  %rl = "residency.reload"(%l) {slot = @large} : (!residency.host<tensor<32xf32>>) -> tensor<32xf32>
  %0 = math.exp %g : tensor<8xf32>
  %1 = arith.mulf %0, %ra : tensor<8xf32>
  %2 = arith.mulf %1, %rb : tensor<8xf32>
  %3 = math.sin %rl : tensor<32xf32>
  return %2, %3 : tensor<8xf32>, tensor<32xf32>
}
