"""Reads training records with Grain: one process reads ahead of the loop."""

import os
import time

import grain
import numpy as np

FEATURES = 32
BATCH_OF_A_HOST = 8
RECORDS = 1 << 20


class Records:
    """Records that are computed from their number; a file tells whether the storage is well.

    The file `storage` in `folder` is absent in health. "gone": a read never returns, as on a
    mount whose server is gone. "corrupt": a read raises. "slow": now and then a read takes long.
    """

    def __init__(self, folder):
        self._state = os.path.join(folder, "storage")

    def __len__(self):
        return RECORDS

    def __getitem__(self, number):
        self._read_block(int(number))
        values = np.random.default_rng(int(number)).standard_normal(FEATURES).astype(np.float32)
        return {"x": values, "y": np.float32(values.sum())}

    def _read_block(self, number):
        if not os.path.exists(self._state):
            return
        with open(self._state, encoding="ascii") as file:
            state = file.read().strip()
        if state == "corrupt":
            raise ValueError(f"record {number}: checksum mismatch")
        if state == "slow":
            time.sleep(3 if number % 160 == 0 else 0)
            return
        while True:
            time.sleep(3600)


def batches(folder, rank, ranks):
    """An iterator of this host's batches, read ahead by a process of its own."""
    dataset = grain.MapDataset.source(Records(folder)).seed(7).shuffle()[rank::ranks]
    dataset = dataset.repeat().batch(BATCH_OF_A_HOST)
    dataset = dataset.to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=4))
    dataset = dataset.mp_prefetch(
        grain.multiprocessing.MultiprocessingOptions(num_workers=1, per_worker_buffer_size=2)
    )
    return iter(dataset)
