// RUN: residency-opt --split-input-file -p residency-match-slots,residency-offload-saved{slots=s0} %s | filecheck %s
// RUN: residency-opt --split-input-file -p "residency-match-slots,residency-offload-saved{slots=s0,s1 tier=disk}" %s | filecheck %s --check-prefix=DISK
// RUN: residency-opt --split-input-file -p "residency-match-slots,residency-offload-saved{budget=0 min-bytes=400}" %s | filecheck %s --check-prefix=LARGE

// CHECK-LABEL: module @a_slot_moves_on_request
// CHECK-DAG: "residency.slot"() {reason = "requested by name", sym_name = "s0", tier = "host"
// CHECK-DAG: "residency.slot"() {reason = "fits the budget", sym_name = "s1", tier = "device"
// CHECK: "residency.offload"(%{{.*}}) {slot = @s0}
// CHECK-NEXT: return
// DISK-DAG: reason = "requested by name", sym_name = "s0", tier = "disk"
// DISK-DAG: reason = "requested by name", sym_name = "s1", tier = "disk"
// LARGE-DAG: reason = "smaller than min-bytes: 200 bytes", sym_name = "s0", tier = "device"
// LARGE-DAG: reason = "over the budget", sym_name = "s1", tier = "host"
module @a_slot_moves_on_request {
  func.func @forward(%x0: !torch.vtensor<[50],f32>, %x1: !torch.vtensor<[100],f32>) -> (!torch.vtensor<[50],f32> {residency.slot = @s0}, !torch.vtensor<[100],f32> {residency.slot = @s1}) {
    %y0 = torch.aten.exp %x0 : !torch.vtensor<[50],f32> -> !torch.vtensor<[50],f32>
    %y1 = torch.aten.exp %x1 : !torch.vtensor<[100],f32> -> !torch.vtensor<[100],f32>
    return %y0, %y1 : !torch.vtensor<[50],f32>, !torch.vtensor<[100],f32>
  }
  func.func @backward(%y0: !torch.vtensor<[50],f32> {residency.slot = @s0}, %y1: !torch.vtensor<[100],f32> {residency.slot = @s1}) -> (!torch.vtensor<[50],f32>, !torch.vtensor<[100],f32>) {
    %z0 = torch.aten.exp %y0 : !torch.vtensor<[50],f32> -> !torch.vtensor<[50],f32>
    %z1 = torch.aten.exp %y1 : !torch.vtensor<[100],f32> -> !torch.vtensor<[100],f32>
    return %z0, %z1 : !torch.vtensor<[50],f32>, !torch.vtensor<[100],f32>
  }
}
