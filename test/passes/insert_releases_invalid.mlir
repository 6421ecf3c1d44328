// RUN: residency-opt --split-input-file --verify-diagnostics -p residency-insert-releases %s

"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @a_gathered_parameter_cannot_be_returned(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32> {
  // expected-error@below {{gathered parameter @w is returned, so that it can never be released}}
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  return %w : !torch.vtensor<[6,6],f32>
}

// -----

"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @a_view_of_a_gathered_parameter_cannot_be_returned(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32> {
  // expected-error@below {{gathered parameter @w is returned, so that it can never be released}}
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %t = torch.aten.t %w : !torch.vtensor<[6,6],f32> -> !torch.vtensor<[6,6],f32>
  return %t : !torch.vtensor<[6,6],f32>
}

// -----

"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @what_an_opaque_op_may_have_kept_cannot_be_returned(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
  // expected-error@below {{gathered parameter @w is returned, so that it can never be released}}
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %o = torch.operator "torch.opaque.n3"(%x, %w) : (!torch.vtensor<[4,6],f32>, !torch.vtensor<[6,6],f32>) -> !torch.vtensor<[4,6],f32>
  return %o : !torch.vtensor<[4,6],f32>
}

// -----

"residency.param"() {sym_name = "w", type = !torch.vtensor<[6,6],f32>, shard = !torch.vtensor<[3,6],f32>, group = "0"} : () -> ()
func.func @an_offload_yields_nothing_that_a_release_may_stand_behind(%x: !torch.vtensor<[4,6],f32>, %ws: !torch.vtensor<[3,6],f32>) -> !residency.host<!torch.vtensor<[6,6],f32>> {
  // expected-error@below {{gathered parameter @w has a last use that yields nothing on the device: residency.offload}}
  %w = "residency.gather"(%ws) {param = @w} : (!torch.vtensor<[3,6],f32>) -> !torch.vtensor<[6,6],f32>
  %h = "residency.offload"(%w) {slot = @s} : (!torch.vtensor<[6,6],f32>) -> !residency.host<!torch.vtensor<[6,6],f32>>
  return %h : !residency.host<!torch.vtensor<[6,6],f32>>
}
