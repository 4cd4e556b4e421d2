"""A cluster of nodes on this machine, worked off with the reader without a model.

``_fast_cluster.py FOLDER NODES SECONDS ACTORS INPUT``: starts Ray with its files in the folder that
``RAY_TEMP`` names, writes ``FOLDER/out.jsonl``, kills an actor's process where a text says so, and
prints nodes, rows and seconds.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from _fast_reader import FastPlan, lend, work
from pura.batch.engine import OBJECT_STORE_BYTES, actors, by_workers
from pura.batch.inputs import Inputs

# A machine that does much else brings a node up late.
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",
    "RAY_gcs_server_request_timeout_seconds": "120",
}


def main() -> None:
    """Start the nodes, work the batch off, end the nodes."""
    short = os.environ["RAY_TEMP"]
    Path(short, "ray").mkdir(exist_ok=True)  # where Ray notes its address
    os.environ |= SETTINGS | {"RAY_TMPDIR": short}
    import ray
    from ray.cluster_utils import Cluster

    folder, nodes, seconds, count, *names = sys.argv[1:]
    node = {"num_cpus": 1, "object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    machine = Cluster(initialize_head=True, head_node_args=node | {"temp_dir": short})
    for _ in range(int(nodes) - 1):
        machine.add_node(**node)
    os.environ["RAY_ADDRESS"] = machine.address
    ray.init(address=machine.address, log_to_driver=False, configure_logging=False)
    try:
        plan = FastPlan(seconds=float(seconds), deaths=str(Path(folder, "deaths")))
        Path(plan.deaths).mkdir(exist_ok=True)
        used = sum(one["Alive"] for one in ray.nodes())
        with actors(plan, lend) as start:
            engine = by_workers(start, int(count))
            begun = time.perf_counter()
            result = str(Path(folder, "out.jsonl"))
            status = work(result, Path(folder, "journal"), Inputs(names=tuple(names)), engine)
            print(f"{used} nodes, {status.found} texts, {time.perf_counter() - begun:.2f} s")
    finally:
        ray.shutdown()
        machine.shutdown()


if __name__ == "__main__":
    main()
