"""Makes the steps and phases of a JAX training loop known without changing the loop.

    import rapideye_progress.jax

    rapideye_progress.jax.install()

What libraries that the program uses do in the loop's thread is shown from then on:

    steps         jax.profiler.StepTraceAnnotation, as MaxText and Flax's examples have it
    checkpoints   Orbax (Checkpointer, AsyncCheckpointer, CheckpointManager), flax.training
    input         Grain, tf.data, PyTorch's DataLoader
    evaluations   clu's ReportProgress.timed("eval"), MaxText's MetricLogger

A loop without annotated steps says `for step in rapideye_progress.jax.steps(range(n)):`, and an
evaluation without one of these `evaluate = rapideye_progress.jax.evaluation(evaluate)`.

Nothing is imported that the program does not import itself, be it before or after install().
A library that is not as expected is left alone, and said once to the logger
"rapideye_progress". No hook raises into the program, or changes what it calls or gets back.
"""

import functools
import importlib.util
import logging
import re
import sys
import threading

import rapideye_progress

__all__ = ["evaluation", "install", "steps", "uninstall"]

_logger = logging.getLogger("rapideye_progress")

_STEP, _INPUT, _CHECKPOINT, _EVAL = "step", "input_wait", "checkpoint", "eval"
# Announced within one of these, a thing is still part of it.
_WITHIN = {_CHECKPOINT: (_CHECKPOINT,), _EVAL: (_EVAL, _CHECKPOINT), _INPUT: (_INPUT, _CHECKPOINT)}


class _Loop:
    """What the loop's thread is in. Other threads are let through: they hold up nobody."""

    def __init__(self, page):
        self.page = page
        self.thread = threading.get_ident()
        self.entered = []  # kinds, the outermost first; the thread's alone
        self.number = -1
        self.evaluating = None  # an evaluation whose end is not a return
        self.tells_devices = True  # until they are told

    def enter(self, kind, number=None):
        """A context that was entered, to be given to leave(); None: nothing is shown."""
        try:
            if threading.get_ident() != self.thread:
                if kind != _STEP:
                    return None
                self.thread = threading.get_ident()
                self.entered.clear()
            if kind == _STEP:
                self.end_evaluation()
                self.number = _number(number, self.number + 1)
                context = self.page.step(self.number)
            elif self.entered and self.entered[-1] in _WITHIN[kind]:
                return None
            else:
                context = getattr(self.page, kind)()
            context.__enter__()
            self.entered.append(kind)
            return context, len(self.entered)
        except Exception as error:  # pylint: disable=broad-except
            _complain(kind, error)
            return None

    def leave(self, entered):
        if entered is None:
            return
        try:
            context, depth = entered
            if threading.get_ident() == self.thread:
                del self.entered[depth - 1 :]
                if self.evaluating is not None and self.evaluating[1] > len(self.entered):
                    self.evaluating = None  # it was begun within
            context.__exit__(None, None, None)
            if self.tells_devices:
                self.tell_devices()
        except Exception as error:  # pylint: disable=broad-except
            _complain("the end of a phase", error)

    def tell_devices(self):
        """Tells the numbers of this process's devices, once the program has opened them."""
        try:
            numbers = _devices()
            if numbers is not None:
                self.tells_devices = False
                self.page.devices(numbers, _slice_numbers())
        except Exception as error:  # pylint: disable=broad-except
            self.tells_devices = False
            _complain("which devices are this process's", error)

    def begin_evaluation(self):
        self.end_evaluation()
        self.evaluating = self.enter(_EVAL)

    def end_evaluation(self):
        evaluating, self.evaluating = self.evaluating, None
        self.leave(evaluating)


class _Default:
    """The page of RAPIDEYE_PROGRESS_PAGE."""

    step = staticmethod(rapideye_progress.step)
    input_wait = staticmethod(rapideye_progress.input_wait)
    checkpoint = staticmethod(rapideye_progress.checkpoint)
    eval = staticmethod(rapideye_progress.eval)
    devices = staticmethod(rapideye_progress.devices)


_lock = threading.RLock()
_loop = None  # None: not installed
_changed = []  # (owner, name, what was there, what is there now)
_complained = set()


def install(path=None):
    """Announces steps and phases from now on. Call it in the thread of the training loop.

    path: the page; None: what RAPIDEYE_PROGRESS_PAGE says. In a process that a data loader has
    started it does nothing. A second call changes the page at most.
    """
    global _loop  # pylint: disable=global-statement
    try:
        with _lock:
            if _is_child():
                return
            fresh = _loop is None
            if not fresh and path is None:
                return
            _loop = _Loop(_Default if path is None else rapideye_progress.Page(path))
            if fresh:
                sys.meta_path.insert(0, _watch)
                for name in list(_LIBRARIES):
                    if name in sys.modules:
                        _hook(name, sys.modules[name])
    except Exception as error:  # pylint: disable=broad-except
        _complain("install", error)


def uninstall():
    """Everything is as it was before install()."""
    global _loop  # pylint: disable=global-statement
    try:
        with _lock:
            loop, _loop = _loop, None
            if _watch in sys.meta_path:
                sys.meta_path.remove(_watch)
            for owner, name, before, after in reversed(_changed):
                # Another's wrapper over it stays, and lets everything through.
                if vars(owner).get(name) is not after:
                    continue
                if before is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, before)
            _changed.clear()
            if loop is not None and loop.page is not _Default:
                loop.page.close()
    except Exception as error:  # pylint: disable=broad-except
        _complain("uninstall", error)


def steps(numbers):
    """Iterates over the numbers of steps, or over tuples that begin with one (enumerate, zip).

    What the loop does until it asks for the next one is the step, and asking is waiting for
    input. Without install() it is the same page.
    """
    install()
    iterator = iter(numbers)
    step = None
    try:
        while True:
            waiting = _enter(_INPUT)
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                _leave(waiting)
            step = _enter(_STEP, item[0] if isinstance(item, tuple) and item else item)
            yield item
            _leave(step)
            step = None
    finally:
        _leave(step)


def evaluation(function):
    """The function, which also announces an evaluation while it runs.

    What else the object has (`lower` of a function that was compiled) is still there.
    """
    return _Evaluation(function)


class _Evaluation:
    def __init__(self, function):
        self._function = function
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args, **kwargs):
        entered = _enter(_EVAL)
        try:
            return self._function(*args, **kwargs)
        finally:
            _leave(entered)

    def __getattr__(self, name):
        if name == "_function":  # a copy without __init__
            raise AttributeError(name)
        return getattr(self._function, name)


def _enter(kind, number=None):
    loop = _loop
    if loop is None:
        return None
    entered = loop.enter(kind, number)
    return None if entered is None else (loop, entered)


def _leave(entered):
    if entered is not None:
        entered[0].leave(entered[1])


def _number(number, otherwise):
    # Not of a device's array: to look at it would wait for the device.
    if isinstance(number, int) or type(number).__module__ == "numpy":
        return int(number)
    return otherwise


def _devices():
    """None while the program has not opened any: to ask JAX for them would open them."""
    jax = sys.modules.get("jax")
    bridge = sys.modules.get("jax._src.xla_bridge")
    opened = getattr(bridge, "backends_are_initialized", None)
    if jax is None or opened is None or not opened():
        return None
    return [device.id for device in jax.local_devices()]


def _slice_numbers():
    """First and end of the numbers of this slice's devices; (0, 0) if others are between them."""
    jax = sys.modules["jax"]
    own = getattr(jax.local_devices()[0], "slice_index", None)
    if own is None:
        return 0, 0
    slices = {device.id: getattr(device, "slice_index", None) for device in jax.devices()}
    mine = [number for number, index in slices.items() if index == own]
    between = range(min(mine), max(mine) + 1)
    if any(number in between and index != own for number, index in slices.items()):
        return 0, 0
    return between.start, between.stop


def _is_child():
    """True in a process of multiprocessing, which may run the main module again."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _complain(what, error):
    if what in _complained:
        return
    _complained.add(what)
    _logger.warning("%s is not shown on the progress page: %s: %s", what, type(error).__name__, error)


# Hooks --------------------------------------------------------------------------------------


def _replace(owner, name, make):
    """Puts make(what is there) in its place, if the class or module itself has it."""
    before = vars(owner).get(name)
    if not callable(before) or getattr(before, "rapideye_progress", False):
        return False
    after = functools.wraps(before)(make(before))
    after.rapideye_progress = True
    setattr(owner, name, after)
    _changed.append((owner, name, before, after))
    return True


def _announcing(kind):
    def make(original):
        def call(*args, **kwargs):
            entered = _enter(kind)
            try:
                return original(*args, **kwargs)
            finally:
                _leave(entered)

        return call

    return make


def _hook_steps(module):
    annotation = module.StepTraceAnnotation
    running = {}  # by annotation that was entered

    def noting(original):
        def init(self, name, **kwargs):
            original(self, name, **kwargs)
            self.rapideye_step = (str(name), kwargs.get("step_num"))

        return init

    def entering(original):
        def enter(self):
            name, number = getattr(self, "rapideye_step", ("", None))
            kind = _EVAL if _is_evaluation(name) else _STEP
            running[id(self)] = _enter(kind, number)
            return original(self)

        return enter

    def leaving(original):
        def leave(self, *exception):
            try:
                return original(self, *exception)
            finally:
                _leave(running.pop(id(self), None))

        return leave

    # Enter and exit are inherited from the compiled class, of which there are others.
    for name, make in (("__enter__", entering), ("__exit__", leaving)):
        after = make(getattr(annotation, name))
        setattr(annotation, name, after)
        _changed.append((annotation, name, None, after))
    _replace(annotation, "__init__", noting)


def _is_evaluation(name):
    # wmt and gemma of Flax's examples also translate and generate to see how good they are.
    words = r"(^|[^a-z])(eval|valid|test|translate|generate)"
    return re.search(words, name.lower()) is not None


def _hook_orbax(module):
    names = ("save", "restore", "wait_until_finished", "close", "reload")
    for of in ("Checkpointer", "AsyncCheckpointer", "PyTreeCheckpointer", "StandardCheckpointer",
               "CheckpointManager"):
        owner = getattr(module, of, None)
        for name in names if owner is not None else ():
            _replace(owner, name, _announcing(_CHECKPOINT))


def _hook_flax(module):
    for name in ("save_checkpoint", "save_checkpoint_multiprocess", "restore_checkpoint"):
        _replace(module, name, _announcing(_CHECKPOINT))


def _hook_grain(module):
    # Iterators are made of iterators; only the outermost one is shown.
    classes = [module.DatasetIterator]
    for owner in classes:
        classes += [other for other in owner.__subclasses__() if other not in classes]
        _replace(owner, "__next__", _announcing(_INPUT))
    loader = sys.modules.get("grain._src.python.data_loader")
    for owner in vars(loader).values() if loader is not None else ():
        if isinstance(owner, type) and owner.__module__ == loader.__name__:
            _replace(owner, "__next__", _announcing(_INPUT))


def _hook_iterators(*names):
    def hook(module):
        for name in names:
            owner = getattr(module, name, None)
            if owner is not None:
                _replace(owner, "__next__", _announcing(_INPUT))

    return hook


def _hook_clu(module):
    def make(original):
        def timed(self, name, *args, **kwargs):
            return _Timed(original(self, name, *args, **kwargs), str(name))

        return timed

    _replace(module.ReportProgress, "timed", make)


class _Timed:
    """The context that ReportProgress gave, which also announces what it is called after."""

    def __init__(self, context, name):
        self._context = context
        self._kind = _EVAL if _is_evaluation(name) else None
        if any(part in name.lower() for part in ("checkpoint", "save", "restore")):
            self._kind = _CHECKPOINT
        self._entered = None

    def __enter__(self):
        self._entered = _enter(self._kind) if self._kind else None
        return self._context.__enter__()

    def __exit__(self, *exception):
        try:
            return self._context.__exit__(*exception)
        finally:
            _leave(self._entered)


def _hook_maxtext(module):
    # An evaluation begins with a reset. The end of one says how many steps it had, and in
    # newer versions is the next thing that is written of the training.
    def beginning(original):
        def reset_eval_metrics(self, *args, **kwargs):
            if _loop is not None:
                _loop.begin_evaluation()
            return original(self, *args, **kwargs)

        return reset_eval_metrics

    def ending(original):
        def record_eval_metrics(self, *args, **kwargs):
            try:
                return original(self, *args, **kwargs)
            finally:
                if _loop is not None and kwargs.get("eval_step_count") is not None:
                    _loop.end_evaluation()

        return record_eval_metrics

    def training_goes_on(original):
        def buffer_and_write_metrics(self, *args, **kwargs):
            if _loop is not None and kwargs.get("is_training", True):
                _loop.end_evaluation()
            return original(self, *args, **kwargs)

        return buffer_and_write_metrics

    _replace(module.MetricLogger, "reset_eval_metrics", beginning)
    _replace(module.MetricLogger, "buffer_and_write_metrics", training_goes_on)
    _replace(module.MetricLogger, "record_eval_metrics", ending)


_MAXTEXT = {
    name: _hook_maxtext
    for name in ("MaxText.metric_logger", "maxtext.metric_logger", "maxtext.common.metric_logger")
}
_LIBRARIES = {
    "jax.profiler": _hook_steps,
    "orbax.checkpoint": _hook_orbax,
    "flax.training.checkpoints": _hook_flax,
    "grain": _hook_grain,
    "grain.python": _hook_grain,
    "torch.utils.data.dataloader": _hook_iterators("_BaseDataLoaderIter"),
    "tensorflow.python.data.ops.iterator_ops": _hook_iterators("OwnedIterator"),
    "tensorflow.python.data.ops.dataset_ops": _hook_iterators("NumpyIterator", "_NumpyIterator"),
    "clu.periodic_actions": _hook_clu,
    **_MAXTEXT,
}


def _hook(name, module):
    try:
        with _lock:
            if _loop is not None:
                _LIBRARIES[name](module)
    except Exception as error:  # pylint: disable=broad-except
        _complain(name, error)


class _Watch:
    """Finds nothing itself: has a library hooked once it has been imported."""

    def __init__(self):
        self._asking = threading.local()

    def find_spec(self, name, path=None, target=None):  # pylint: disable=unused-argument
        if name not in _LIBRARIES or getattr(self._asking, "now", False):
            return None
        self._asking.now = True
        try:
            spec = importlib.util.find_spec(name)
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                _hook(name, module)

            spec.loader.exec_module = exec_module
            return spec
        except Exception:  # pylint: disable=broad-except
            return None  # the import goes on without
        finally:
            self._asking.now = False


_watch = _Watch()
