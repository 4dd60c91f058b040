"""`dralang init`: a project with a configuration and a first spec that passes. Nothing is ever overwritten."""

import os
import shlex
from typing import Final

from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.console import Console

CONFIGURATION: Final = """\
# What dralang does here when the command line says nothing else.
[dralang]
paths = ["specs"]   # what `dralang test`, `check` and `fmt` look at
k8s = "1.37"        # the Kubernetes version of specs that do not name one
"""

FIRST_SPEC: Final = """\
# The smallest useful spec: two pods, one GPU.
kubernetes 1.37

node worker-1

slice worker-1-gpus {
  driver: gpu.example.com
  nodeName: worker-1
  device gpu-0 {
    attributes { model: "a100", driverVersion: v1.2.3 }
    capacity { memory: 80Gi }
  }
}

class gpu.example.com {
  where `device.driver == "gpu.example.com"`
}

template one-gpu {
  request gpu: 1 of gpu.example.com where `device.attributes["gpu.example.com"].model == "a100"`
}

pod train { claim gpu from one-gpu }
pod serve { claim gpu from one-gpu }

scenario "first come, first served" {
  create train
  create serve
  expect train runs on worker-1 with gpu-0
  expect serve is pending because "cannot allocate all claims"

  finish train
  expect serve runs on worker-1 with gpu-0
}
"""

FILES: Final = (("dralang.toml", CONFIGURATION), (os.path.join("specs", "first.dra"), FIRST_SPEC))


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    if len(arguments.positionals) > 1:
        raise UsageError("`dralang init` takes one folder")
    folder = arguments.positionals[0] if arguments.positionals else "."
    if "\0" in folder or not folder:
        raise UsageError(f"`{folder}` is no folder")
    paths = [(os.path.join(folder, name) if folder != "." else name, text) for name, text in FILES]
    for path, _ in paths:
        if os.path.lexists(path):
            raise UsageError(
                f"`{path}` is already there", "nothing was written; move it away, or choose another folder"
            )
    for path, text in paths:
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"cannot write `{path}`: {(error.strerror or '').lower()}") from None
        console.out(f"wrote {path}\n")
    where = "" if folder == "." else f"cd {shlex.quote(folder)} && "
    console.out(f"next: {where}dralang test\n")
    return exits.OK
