"""Saves and restores with Orbax, asynchronously; every host keeps its input position beside."""

import json
import os

import orbax.checkpoint as ocp


class Checkpoints:
    """Checkpoints below a folder that all hosts share."""

    def __init__(self, folder, rank):
        self._folder = folder
        self._rank = rank
        self._manager = ocp.CheckpointManager(
            os.path.join(folder, "steps"),
            options=ocp.CheckpointManagerOptions(max_to_keep=2, enable_async_checkpointing=True),
        )

    def save(self, step, state):
        """Waits for the save before this one, then begins this one."""
        self._manager.wait_until_finished()
        self._save_position(step)
        self._manager.save(step, args=ocp.args.StandardSave(state))

    def restore(self, state):
        """The newest checkpoint, in the form of `state`."""
        self._manager.wait_until_finished()
        self._restore_position()
        step = self._manager.latest_step()
        if step is None:
            return state
        return self._manager.restore(step, args=ocp.args.StandardRestore(state))

    def close(self):
        self._manager.wait_until_finished()
        self._manager.close()

    def _position_file(self):
        return os.path.join(self._folder, f"input-{self._rank}.json")

    def _save_position(self, step):
        with open(self._position_file(), "w", encoding="ascii") as file:
            json.dump({"step": step}, file)

    def _restore_position(self):
        if os.path.exists(self._position_file()):
            with open(self._position_file(), encoding="ascii") as file:
                file.read()
