// RUN: residency-opt --split-input-file --verify-diagnostics -p "residency-match-slots,residency-offload-saved{slots=a,b,v}" %s

// Each slot that was asked for either moves or is named with the reason.
module @a_request_that_cannot_be_met_is_an_error {
  // expected-error@below {{slot @a cannot be offloaded: graph input: the caller holds it}}
  "residency.slot"() {sym_name = "a", type = !torch.vtensor<[4],f32>, tier = "device", stays = "graph input: the caller holds it"} : () -> ()
  // expected-error@below {{slot @b cannot be offloaded: shares its storage with slot @v}}
  "residency.slot"() {sym_name = "b", type = !torch.vtensor<[4,4],f32>, tier = "device"} : () -> ()
  // expected-error@below {{slot @v cannot be offloaded: shares its storage with slot @b}}
  "residency.slot"() {sym_name = "v", type = !torch.vtensor<[4,4],f32>, tier = "device"} : () -> ()
  func.func @forward(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4,4],f32>) -> (!torch.vtensor<[4],f32> {residency.slot = @a}, !torch.vtensor<[4,4],f32> {residency.slot = @b}, !torch.vtensor<[4,4],f32> {residency.slot = @v}) {
    %b = torch.aten.exp %y : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    %v = torch.aten.t %b : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
    return %x, %b, %v : !torch.vtensor<[4],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
  }
  func.func @backward(%a: !torch.vtensor<[4],f32> {residency.slot = @a}, %b: !torch.vtensor<[4,4],f32> {residency.slot = @b}, %v: !torch.vtensor<[4,4],f32> {residency.slot = @v}) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>) {
    return %a, %b, %v : !torch.vtensor<[4],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
  }
}

// -----

// expected-error@below {{no such slot was saved, got: @a}}
// expected-error@below {{no such slot was saved, got: @b}}
// expected-error@below {{no such slot was saved, got: @v}}
module @a_request_for_an_unknown_slot_is_an_error {
  func.func @forward(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
    return %x : !torch.vtensor<[4],f32>
  }
  func.func @backward(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
    return %x : !torch.vtensor<[4],f32>
  }
}

// -----

// expected-error@below {{slot @a cannot be offloaded: the module has no @forward and @backward}}
// expected-error@below {{slot @b cannot be offloaded: the module has no @forward and @backward}}
// expected-error@below {{slot @v cannot be offloaded: the module has no @forward and @backward}}
module @forward_without_backward_saves_nothing {
  func.func @forward(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
    return %x : !torch.vtensor<[4],f32>
  }
}
