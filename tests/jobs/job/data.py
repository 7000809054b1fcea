"""Reads training records with Grain: one process reads ahead of the loop."""

import grain
import numpy as np

import source

FEATURES = 32
BATCH_OF_A_HOST = 8
RECORDS = 1 << 20


class Records:
    """Records that are computed from their number, once the storage has given them."""

    def __init__(self, folder):
        self._source = source.Source(folder)

    def __len__(self):
        return RECORDS

    def __getitem__(self, number):
        self._source.read_block(int(number))
        values = np.random.default_rng(int(number)).standard_normal(FEATURES).astype(np.float32)
        return {"x": values, "y": np.float32(values.sum())}


def batches(folder, rank, ranks):
    """An iterator of this host's batches, read ahead by a process of its own."""
    dataset = grain.MapDataset.source(Records(folder)).seed(7).shuffle()[rank::ranks]
    dataset = dataset.repeat().batch(BATCH_OF_A_HOST)
    dataset = dataset.to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=4))
    dataset = dataset.mp_prefetch(
        grain.multiprocessing.MultiprocessingOptions(num_workers=1, per_worker_buffer_size=2)
    )
    return iter(dataset)
