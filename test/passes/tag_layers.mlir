// RUN: residency-opt --split-input-file -p residency-tag-layers{min-ops=2} %s | filecheck %s
// RUN: residency-opt --split-input-file -p residency-tag-layers{min-ops=4} %s | filecheck %s --check-prefix=PAIRS
// RUN: residency-opt --split-input-file -p residency-tag-layers %s | filecheck %s --check-prefix=DEFAULT

// Values may have any names, and constants may be shared or not: layers are told by ops and types.
// CHECK-LABEL: @the_last_op_of_each_layer_and_of_what_precedes_is_tagged
// CHECK: torch.aten.exp %{{.*}} {residency.cut}
// CHECK-NEXT: torch.aten.mm %{{[^{]*$}}
// CHECK-NEXT: torch.aten.relu %{{.*}} {residency.cut}
// CHECK-NEXT: torch.constant.int 1
// CHECK-NEXT: torch.aten.mm %{{[^{]*$}}
// CHECK-NEXT: torch.aten.relu %{{.*}} {residency.cut}
// CHECK-NEXT: torch.aten.sum %{{[^{]*$}}

// A period that is too short is taken several times over.
// PAIRS-LABEL: @the_last_op_of_each_layer_and_of_what_precedes_is_tagged
// PAIRS-NOT: residency.cut
// PAIRS-LABEL: @short_layers_are_tagged_in_groups
// PAIRS: torch.aten.exp %{{.*}} {residency.cut}
// PAIRS-NEXT: torch.aten.mm %{{[^{]*$}}
// PAIRS-NEXT: torch.aten.relu %{{[^{]*$}}
// PAIRS-NEXT: torch.aten.mm %{{[^{]*$}}
// PAIRS-NEXT: torch.aten.relu %{{.*}} {residency.cut}
// PAIRS-NEXT: torch.aten.mm %{{[^{]*$}}
// PAIRS-NEXT: torch.aten.relu %{{[^{]*$}}
// PAIRS-NEXT: torch.aten.mm %{{[^{]*$}}
// PAIRS-NEXT: torch.aten.relu %{{.*}} {residency.cut}

// DEFAULT-NOT: residency.cut
func.func @the_last_op_of_each_layer_and_of_what_precedes_is_tagged(%x: !torch.vtensor<[4,4],f32>, %w0: !torch.vtensor<[4,4],f32>, %w1: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %0 = torch.aten.exp %x : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %1 = torch.aten.mm %0, %w0 : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %2 = torch.aten.relu %1 : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %int1 = torch.constant.int 1
  %again = torch.aten.mm %2, %w1 : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %other = torch.aten.relu %again : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %3 = torch.aten.sum %other, %none : !torch.vtensor<[4,4],f32>, !torch.none -> !torch.vtensor<[],f32>
  return %3 : !torch.vtensor<[],f32>
}

// -----

func.func @short_layers_are_tagged_in_groups(%x: !torch.vtensor<[4,4],f32>, %w: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %0 = torch.aten.exp %x : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %1 = torch.aten.mm %0, %w : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %2 = torch.aten.relu %1 : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %3 = torch.aten.mm %2, %w : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %4 = torch.aten.relu %3 : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %5 = torch.aten.mm %4, %w : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %6 = torch.aten.relu %5 : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %7 = torch.aten.mm %6, %w : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %8 = torch.aten.relu %7 : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  return %8 : !torch.vtensor<[4,4],f32>
}

// -----

// CHECK-LABEL: @ops_that_yield_other_types_are_no_layer
// CHECK-NOT: residency.cut
// PAIRS-LABEL: @ops_that_yield_other_types_are_no_layer
func.func @ops_that_yield_other_types_are_no_layer(%x: !torch.vtensor<[4,4],f32>, %w0: !torch.vtensor<[4,8],f32>, %w1: !torch.vtensor<[8,16],f32>) -> !torch.vtensor<[4,16],f32> {
  %1 = torch.aten.mm %x, %w0 : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  %2 = torch.aten.relu %1 : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
  %3 = torch.aten.mm %2, %w1 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,16],f32> -> !torch.vtensor<[4,16],f32>
  %4 = torch.aten.relu %3 : !torch.vtensor<[4,16],f32> -> !torch.vtensor<[4,16],f32>
  return %4 : !torch.vtensor<[4,16],f32>
}

// -----

// The layers may be cut after sin or after cos as well; only what one value crosses keeps segments small.
// CHECK-LABEL: @layers_meet_where_the_fewest_values_cross
// CHECK: torch.aten.exp
// CHECK-NEXT: torch.aten.cos %{{[^{]*$}}
// CHECK-NEXT: torch.aten.add.Tensor %{{.*}} {residency.cut}
// CHECK-NEXT: torch.aten.sin %{{[^{]*$}}
// CHECK-NEXT: torch.aten.cos %{{[^{]*$}}
// CHECK-NEXT: torch.aten.add.Tensor %{{.*}} {residency.cut}
// CHECK-NEXT: torch.aten.sin %{{[^{]*$}}
// CHECK-NEXT: torch.aten.cos %{{[^{]*$}}
// CHECK-NEXT: torch.aten.add.Tensor %{{.*}} {residency.cut}
func.func @layers_meet_where_the_fewest_values_cross(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %int1 = torch.constant.int 1
  %s = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %c = torch.aten.cos %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %0 = torch.aten.add.Tensor %s, %c, %int1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  %s1 = torch.aten.sin %0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %c1 = torch.aten.cos %0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.add.Tensor %s1, %c1, %int1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  %s2 = torch.aten.sin %1 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %c2 = torch.aten.cos %1 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %2 = torch.aten.add.Tensor %s2, %c2, %int1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %2 : !torch.vtensor<[4],f32>
}
