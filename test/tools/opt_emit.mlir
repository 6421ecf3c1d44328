// One module in all the forms that the tool writes.
// RUN: residency-opt %s -o %t.mlir && filecheck %s --input-file=%t.mlir
// RUN: residency-opt --emit=bytecode %s -o %t.mlirbc && residency-opt %t.mlirbc | filecheck %s
// RUN: residency-opt --emit=bytecode %s | residency-opt - | filecheck %s
// RUN: residency-opt --emit=irdl | filecheck %s --check-prefix=IRDL
// RUN: residency-opt --mlir-print-debuginfo %s | filecheck %s --check-prefix=LOC

// IRDL: irdl.dialect @residency
// IRDL: irdl.type @host
// IRDL: irdl.operation @offload_start

// CHECK: "residency.slot"() {sym_name = "s", tier = "device", type = !torch.vtensor<[4],f32>}
"residency.slot"() {sym_name = "s", type = !torch.vtensor<[4],f32>, tier = "device"} : () -> ()
// CHECK: func.func @forward(%[[X:.*]]: !torch.vtensor<[4],f32> {residency.kind = "input"}) -> (!torch.vtensor<[4],f32> {residency.slot = @s})
// LOC: func.func @forward(%[[X:.*]]: !torch.vtensor<[4],f32> {residency.kind = "input"} loc({{.*}}))
func.func @forward(%x: !torch.vtensor<[4],f32> {residency.kind = "input"}) -> (!torch.vtensor<[4],f32> {residency.slot = @s}) {
  // CHECK: %[[Y:.*]] = torch.aten.tanh %[[X]]
  // LOC: torch.aten.tanh %{{.*}} loc(#[[L:.*]])
  // LOC: #[[L]] = loc("model.py":12:8)
  %y = torch.aten.tanh %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32> loc("model.py":12:8)
  // CHECK: return %[[Y]]
  return %y : !torch.vtensor<[4],f32>
}
