// RUN: residency-opt --split-input-file --verify-diagnostics %s

// expected-error@below {{'residency.param' op needs a value on the device, got: !residency.host<tensor<8x8xf32>>}}
"residency.param"() {sym_name = "w", type = !residency.host<tensor<8x8xf32>>, shard = tensor<4x8xf32>, group = "0"} : () -> ()

// -----

// expected-error@below {{'residency.param' op needs a value on the device, got: !residency.pending<tensor<4x8xf32>>}}
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = !residency.pending<tensor<4x8xf32>>, group = "0"} : () -> ()

// -----

// expected-error@below {{'residency.param' op needs the name of a process group, got: ""}}
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = ""} : () -> ()

// -----

// expected-error@below {{'residency.param' op has an unknown attribute: grup}}
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = "0", grup = "1"} : () -> ()

// -----

// expected-error@below {{'residency.slot' op needs a tier out of device, host, disk, got: gpu}}
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "gpu"} : () -> ()

// -----

// expected-error@below {{'residency.slot' op cannot leave the device (graph input: the caller holds it), got tier: host}}
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "host", stays = "graph input: the caller holds it"} : () -> ()

// -----

// expected-error@below {{'residency.slot' op needs a value on the device, got: !residency.host<tensor<4x8xf32>>}}
"residency.slot"() {sym_name = "s", type = !residency.host<tensor<4x8xf32>>, tier = "device"} : () -> ()

// -----

// expected-error@below {{'residency.slot' op has an unknown attribute: resaon}}
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "device", resaon = "typing"} : () -> ()

// -----

"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "device"} : () -> ()
// expected-error@below {{redefinition of symbol named 's'}}
// expected-note@-2 {{see existing symbol definition here}}
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "device"} : () -> ()

// -----

// expected-error@below {{'residency.param' op needs an attribute: group}}
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>} : () -> ()

// -----

// expected-error@below {{'residency.param' op needs a StringAttr as group, got: 0 : i64}}
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = tensor<4x8xf32>, group = 0} : () -> ()

// -----

// expected-error@below {{'residency.param' op needs a TypeAttr as shard, got: "tensor"}}
"residency.param"() {sym_name = "w", type = tensor<8x8xf32>, shard = "tensor", group = "0"} : () -> ()

// -----

// expected-error@below {{'residency.slot' op needs an attribute: tier}}
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>} : () -> ()

// -----

// expected-error@below {{'residency.slot' op needs a StringAttr as stays, got: 1 : i64}}
"residency.slot"() {sym_name = "s", type = tensor<4x8xf32>, tier = "device", stays = 1} : () -> ()
