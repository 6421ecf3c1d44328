// RUN: residency-opt -p residency-check-outlined --emit=python %s | filecheck %s
// RUN: residency-opt --emit=python %s -o %t.py && %python -m py_compile %t.py
// RUN: not residency-opt --emit=python %S/Inputs/unscheduled.mlir 2>&1 | filecheck %s --check-prefix=ERR

// ERR: unscheduled.mlir: error: the Python target has no form of this op: residency.reload

"residency.slot"() {sym_name = "s", type = !torch.vtensor<[4],f32>, tier = "host"} : () -> ()

// CHECK: def forward(args):
// CHECK: (a0,) = args
// CHECK: args.clear()
// CHECK: t = [a0]
// CHECK: (t)  # forward_seg_0
// CHECK: engine.offload_start(
// CHECK: engine.wait(
// CHECK: engine.free(
// CHECK: return (
func.func @forward(%x: !torch.vtensor<[4],f32>) -> (!residency.host<!torch.vtensor<[4],f32>> {residency.slot = @s}) {
  %y = call @forward_seg_0(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  %p = "residency.offload_start"(%y) {slot = @s} : (!torch.vtensor<[4],f32>) -> !residency.pending<!residency.host<!torch.vtensor<[4],f32>>>
  %h = "residency.wait"(%p) : (!residency.pending<!residency.host<!torch.vtensor<[4],f32>>>) -> !residency.host<!torch.vtensor<[4],f32>>
  "residency.free"(%y) : (!torch.vtensor<[4],f32>) -> ()
  return %h : !residency.host<!torch.vtensor<[4],f32>>
}
func.func private @forward_seg_0(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %y = torch.aten.tanh %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}
