// RUN: residency-opt --split-input-file -p "residency-match-slots,residency-offload-saved{slots=s0,s1},residency-undo-offload{slots=s0}" %s | filecheck %s

// CHECK-LABEL: module @one_of_two_offloads_is_taken_back
// CHECK-DAG: "residency.slot"() {sym_name = "s0", tier = "device"
// CHECK-DAG: "residency.slot"() {reason = "requested by name", sym_name = "s1", tier = "host"
// CHECK: func.func @forward
// CHECK: %[[Y0:.*]] = torch.aten.exp
// CHECK: %[[Y1:.*]] = torch.aten.exp
// CHECK-NEXT: %[[H:.*]] = "residency.offload"(%[[Y1]]) {slot = @s1}
// CHECK-NEXT: return %[[Y0]], %[[H]]
// CHECK: func.func @backward(%[[A:.*]]: !torch.vtensor<[50],f32> {residency.slot = @s0}
// CHECK-NEXT: "residency.reload"(%{{.*}}) {slot = @s1}
// CHECK-NEXT: torch.aten.exp %[[A]]
module @one_of_two_offloads_is_taken_back {
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
