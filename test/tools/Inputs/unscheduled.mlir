// A reload that has no time yet.
func.func @backward(%h: !residency.host<tensor<4xf32>>) -> tensor<4xf32> {
    %x = "residency.reload"(%h) {slot = @s} : (!residency.host<tensor<4xf32>>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
