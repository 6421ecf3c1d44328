// RUN: residency-opt %s | filecheck %s
// RUN: residency-opt %s | residency-opt | filecheck %s
// RUN: residency-opt --emit=bytecode %s -o %t && residency-opt %t | filecheck %s

// CHECK: func.func @host(%[[A:.*]]: !residency.host<tensor<4x8xf32>>, %{{.*}}: !residency.host<!torch.vtensor<[4,8],f32>>)
func.func @host(%a: !residency.host<tensor<4x8xf32>>, %b: !residency.host<!torch.vtensor<[4,8],f32>>) -> !residency.host<tensor<4x8xf32>> {
  return %a : !residency.host<tensor<4x8xf32>>
}

// A declaration only: in a body, a pending argument would need its wait.
// CHECK: func.func private @pending(!residency.pending<tensor<?x8xf32>>, !residency.pending<!residency.host<!torch.vtensor<[?,8],bf16>>>)
func.func private @pending(!residency.pending<tensor<?x8xf32>>, !residency.pending<!residency.host<!torch.vtensor<[?,8],bf16>>>)
