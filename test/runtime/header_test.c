/* The public header is C. */
#include "residency/runtime.h"

int main(void) {
  return residency_abi_version() == RESIDENCY_ABI_VERSION ? 0 : 1;
}
