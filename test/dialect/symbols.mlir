// RUN: residency-opt %s | filecheck %s
// RUN: residency-opt %s | residency-opt | filecheck %s

// CHECK: "residency.param"() {group = "0", shard = tensor<4x8xf32>, sym_name = "w", type = tensor<8x8xf32>}
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "0"} : () -> ()
