"""Asks the runtime at ADDRESS with Google's clients; run with the Python that has them.

    client.py ADDRESS cores|queues|idle|usage|execution|sdk
    client.py ADDRESS transfers METRIC
    client.py ADDRESS command [ARGUMENT...]     tpu-info as people call it

tpu-info knows one address, localhost:8431, and looks for chips on the PCI bus: here it gets
another address and two chips that nobody has opened, and nothing else is changed. libtpu's own
client asks localhost:8431, whatever ADDRESS is.
"""

import dataclasses
import json
import os
import sys

import grpc
from tpu_info import cli, device, metrics

CHIP = device.TpuChip.V6E
COUNT = 2

# libtpu looks for what it is part of: at the metadata server, which no machine but a TPU's has,
# or here.
os.environ.update(
    TPU_SKIP_MDS_QUERY="true",
    TPU_ACCELERATOR_TYPE="v6e-8",
    TPU_WORKER_ID="0",
    TPU_WORKER_HOSTNAMES="localhost",
    TPU_TOPOLOGY="2x4",
    TPU_CHIPS_PER_HOST_BOUNDS="2,1,1",
    TPU_HOST_BOUNDS="1,1,1",
)


def command(address, arguments):
    connect = grpc.secure_channel
    grpc.secure_channel = lambda _, credentials: connect(address, credentials)
    device.get_local_chips = lambda: (CHIP, COUNT)
    device.get_chips = lambda: []
    device.get_chip_owners = lambda: {}
    os.environ["COLUMNS"] = "200"
    sys.argv = ["tpu-info", *arguments]
    cli.print_chip_info()


def sdk():
    from libtpu import sdk as libtpu_sdk

    names = ("hlo_queue_size", "hbm_capacity_total", "idle_duration", "collective_e2e_latency")
    return {name: libtpu_sdk.tpumonitoring.get_metric(name).data() for name in names}


def answer(address, what, arguments):
    if what == "cores":
        states = metrics.get_tpuz_info(address, include_hlo_info=True)
        return [dataclasses.asdict(state) for state in states]
    if what == "queues":
        return metrics.get_hlo_queue_size(CHIP, address)
    if what == "idle":
        return metrics.get_tensorcore_idle_duration(address)
    if what == "usage":
        return metrics.get_chip_usage(CHIP, address)
    if what == "execution":
        return metrics.get_hlo_exec_timing(CHIP, address)
    if what == "transfers":
        return [dataclasses.astuple(row) if dataclasses.is_dataclass(row) else row
                for row in metrics.get_transfer_latency(arguments[0], address)]
    if what == "sdk":
        return sdk()
    raise SystemExit(f"{what}: what should that be?")


if __name__ == "__main__":
    if sys.argv[2] == "command":
        command(sys.argv[1], sys.argv[3:])
    else:
        print(json.dumps(answer(sys.argv[1], sys.argv[2], sys.argv[3:])))
