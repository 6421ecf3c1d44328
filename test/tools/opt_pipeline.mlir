// Our passes and MLIR's mix, in both spellings.
// RUN: residency-opt -p 'residency-check-imported,canonicalize,func.func(cse)' %s | filecheck %s
// RUN: residency-opt --pass-pipeline='builtin.module(residency-check-imported,func.func(canonicalize,cse),symbol-dce)' %s | filecheck %s
// RUN: residency-opt -p 'residency-check-imported,func.func(cse)' --mlir-print-ir-after-all %s -o %t 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: residency-opt -p 'residency-check-imported,cse' --mlir-timing %s -o %t 2>&1 | filecheck %s --check-prefix=TIME
// RUN: residency-opt < %s | filecheck %s --check-prefix=NOTHING

// AFTER: IR Dump After residency-check-imported
// AFTER: torch.constant.int
// AFTER: torch.constant.int
// AFTER: IR Dump After func.func-cse
// AFTER: torch.constant.int
// AFTER-NOT: torch.constant.int

// TIME: {{[0-9.]+}} ms  residency-check-imported
// TIME: {{[0-9.]+}} ms  cse

// NOTHING: torch.constant.int
// NOTHING: torch.constant.int

// CHECK: torch.constant.int
// CHECK-NOT: torch.constant.int
func.func @forward() -> (!torch.int, !torch.int) {
  %y = torch.constant.int 3
  %z = torch.constant.int 3
  return %y, %z : !torch.int, !torch.int
}
