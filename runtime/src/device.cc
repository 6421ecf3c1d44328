#include "device.h"

#include "status.h"

namespace residency {

const char* name_of(StreamKind kind) {
  switch (kind) {
    case StreamKind::compute:
      return "compute";
    case StreamKind::d2h:
      return "d2h";
    case StreamKind::h2d:
      return "h2d";
    case StreamKind::gather:
      return "gather";
    case StreamKind::reduce:
      return "reduce";
  }
  return "?";
}

std::unique_ptr<Device> make_device(const std::string& name) {
  if (name == "host") return make_host_device();
  throw invalid("devices are host, not: " + name);
}

}  // namespace residency
