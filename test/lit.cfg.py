"""Configuration of the lit suite: `lit test`, or as a part of pytest."""

import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path

import lit.formats

root = Path(__file__).parent
scripts = Path(sys.executable).parent

config.name = "residency"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(root)
config.test_exec_root = os.environ.get("RESIDENCY_LIT_OUTPUT", str(root / "Output"))
config.suffixes = [".mlir", ".py"]
# Python files without a RUN line are pytest's.
config.excludes = [
    *(p.name for p in root.rglob("*.py") if "RUN" + ":" not in p.read_text()),
    "lit.cfg.py",
    "Inputs",
    "Output",
]

if importlib.util.find_spec("residency") is None:
    lit_config.fatal(f"the package is neither installed nor on PYTHONPATH for {sys.executable}")
script = shutil.which("residency-opt", path=str(scripts))
opt = script or f"'{sys.executable}' -m residency.pipeline.tools.opt"
stock = Path(sysconfig.get_path("purelib")) / "mlir" / "bin" / "mlir-opt"

# Longest first: `residency-opt` also ends the path of the script.
config.substitutions += [
    (r"(?<![\w/.-])residency-opt\b", opt),
    (r"%python", f"'{sys.executable}'"),
    (r"%stock-mlir-opt", str(stock)),
]
if stock.exists():
    config.available_features.add("stock-mlir-opt")

for name in ("PYTHONPATH", "HOME", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["PATH"] = os.pathsep.join([str(scripts), os.environ.get("PATH", "")])
config.environment["PYTHONWARNINGS"] = "error"
