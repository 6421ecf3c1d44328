// A module that fails does not stop the others; its lines are numbered as in the file.
// RUN: not residency-opt --split-input-file %s > %t.out 2> %t.err
// RUN: filecheck %s --input-file=%t.out
// RUN: filecheck %s --input-file=%t.err --check-prefix=ERR

// CHECK: @first
// CHECK-NOT: @second
// CHECK: // -----
// CHECK: @third
// ERR: opt_split_input.mlir:[[LINE:21]]:8: error: 'residency.offload' op needs a value on the device
// ERR-NEXT: %h = "residency.offload"(%x)
// ERR-NEXT: ^
// ERR-NOT: error
func.func @first() {
  return
}

// -----

func.func @second(%x: !residency.host<tensor<4xf32>>) {
  %h = "residency.offload"(%x) {slot = @s} : (!residency.host<tensor<4xf32>>) -> !residency.host<!residency.host<tensor<4xf32>>>
  return
}

// -----

func.func @third() {
  return
}
