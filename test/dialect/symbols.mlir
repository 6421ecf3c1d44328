// RUN: residency-opt %s | filecheck %s
// RUN: residency-opt %s | residency-opt | filecheck %s

// CHECK: "residency.param"() {group = "0", shard = !torch.vtensor<[4,8],f32>, sym_name = "w", type = !torch.vtensor<[8,8],f32>} : () -> ()
"residency.param"() {sym_name = "w", type = !torch.vtensor<[8,8],f32>, shard = !torch.vtensor<[4,8],f32>, group = "0"} : () -> ()

// CHECK: "residency.param"() {group = "dp", shard = tensor<4x8xf32>, sym_name = "layers.0.wq.weight", type = tensor<8x8xf32>} : () -> ()
"residency.param"() {sym_name = "layers.0.wq.weight", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "dp"} : () -> ()

// CHECK: "residency.slot"() {sym_name = "saved_0", tier = "device", type = !torch.vtensor<[4,8],f32>} : () -> ()
"residency.slot"() {sym_name = "saved_0", type = !torch.vtensor<[4,8],f32>, tier = "device"} : () -> ()

// CHECK: "residency.slot"() {reason = "over budget", sym_name = "saved_1", tier = "host", type = tensor<4x8xf32>} : () -> ()
"residency.slot"() {sym_name = "saved_1", type = tensor<4x8xf32>, tier = "host", reason = "over budget"} : () -> ()

// CHECK: "residency.slot"() {stays = "symbolic integer", sym_name = "saved_2", tier = "device", type = !torch.int} : () -> ()
"residency.slot"() {sym_name = "saved_2", type = !torch.int, tier = "device", stays = "symbolic integer"} : () -> ()

// CHECK: "residency.slot"() {my.note = 1 : i64, sym_name = "saved_3", tier = "disk", type = tensor<4xf32>} : () -> ()
"residency.slot"() {sym_name = "saved_3", type = tensor<4xf32>, tier = "disk", my.note = 1} : () -> ()

// A saved value carries its symbol through both functions.
// CHECK: func.func @forward(%{{.*}}: tensor<4x8xf32> {residency.kind = "param"}) -> (tensor<4x8xf32> {residency.slot = @saved_0})
func.func @forward(%x: tensor<4x8xf32> {residency.kind = "param"}) -> (tensor<4x8xf32> {residency.slot = @saved_0}) {
  return %x : tensor<4x8xf32>
}
// CHECK: func.func @backward(%{{.*}}: tensor<4x8xf32> {residency.kind = "saved", residency.slot = @saved_0})
func.func @backward(%x: tensor<4x8xf32> {residency.kind = "saved", residency.slot = @saved_0}) {
  return
}
