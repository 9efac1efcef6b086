"""The target process: loads the models, prepares the request, runs the method, streams its record."""

import gc
import os
from multiprocessing.connection import Connection
from typing import Any

from as2d_core.calibration.measure import calibrate
from as2d_core.clock import now_ns
from as2d_core.collection.observe import collect
from as2d_core.engines.mnn import MnnModel, Settings
from as2d_core.engines.padded import PaddedTarget, WidthPolicy, widest_asked
from as2d_core.engines.self_test import MAX_WIDTH, as_event, find_exact_widths
from as2d_core.errors import As2dError, ConditionsError, RequestError
from as2d_core.methods import method
from as2d_core.methods.base import Outcome
from as2d_core.models.folder import ModelInfo
from as2d_core.operation_records import SelfTest
from as2d_core.records import Conditions, Engine, Mark, Span
from as2d_core.request import METHODS, Request
from as2d_core.runner.device import cpu_name
from as2d_core.runner.gatekeeper import Gatekeeper
from as2d_core.runner.job import TESTED, TESTING, Job
from as2d_core.runner.kept_widths import SelfTestSetting, keep_widths, kept_widths, self_tests_folder
from as2d_core.runner.lifeline import hold_on
from as2d_core.runner.pipe_recorder import CancelledError, PipeRecorder
from as2d_core.runner.placement import allowed_cores, pin, step_forward
from as2d_core.runner.remote import DrafterProcess, RemoteSerialDrafter, RemoteSource
from as2d_core.runner.sensors import Sensors


def main(pipe: Connection) -> None:
    """Serve the coordinator until it goes away."""
    os.dup2(2, 1)  # MNN prints to standard output, which belongs to the protocol
    hold_on()
    step_forward()
    session = Session(pipe)
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            session.leave()
        if message[0] == "run":
            try:
                pipe.send(("taken",))
                session.run(message[1])
            except (BrokenPipeError, EOFError):
                session.leave()


class Session:
    """Resident models and the audio in their caches, carried from request to request."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._model: MnnModel | None = None
        self._drafter: DrafterProcess | None = None
        self._drafter_key: Any = None
        self._allowed = allowed_cores()
        """Cores this process was given; where it returns to when it cannot be bound."""
        self._asked_cores: tuple[int, ...] = ()
        self._cores: tuple[int, ...] | None = None
        self._exact: dict[str, tuple[int, ...]] = {}
        """Widths that were given, or found in this process."""
        self._sensors = Sensors()
        self._target_heard: str | None = None
        self._drafter_heard: str | None = None

    def leave(self) -> None:
        """End this process and the drafter. Never an ordinary exit: a live logits Var can crash it."""
        if self._drafter is not None:
            self._drafter.kill()
        os._exit(0)

    def run(self, job: Job) -> None:
        """Run one request and report how it ended; an error becomes a failed outcome."""
        recorder = PipeRecorder(self._pipe)
        outcome: Outcome | None = None
        error: str | None = None
        sound = False
        try:
            outcome = self._decode(job, recorder)
        except CancelledError:
            outcome = Outcome("cancelled", (), now_ns(), now_ns())
        except ConditionsError as problem:
            error, sound = str(problem), True  # nothing happened to the models
        except As2dError as problem:
            error = str(problem)
        except (BrokenPipeError, EOFError):
            raise
        except Exception as problem:  # noqa: BLE001 - MNN raises what it likes; the run must end with a sentence
            error = f"The engine failed: {type(problem).__name__}: {problem}"
        if error is not None and not sound:
            self._start_over()
        recorder.flush()
        text = self._text(outcome.tokens) if outcome is not None and outcome.tokens else None
        self._pipe.send(("done", outcome, text, error))

    def _start_over(self) -> None:
        """After a failure: a drafter that may still answer the failed request would answer the next one."""
        self._target_heard = self._drafter_heard = None
        if self._drafter is not None:
            self._drafter.kill()
            self._drafter = None

    # -- one request ----------------------------------------------------------------------------

    def _decode(self, job: Job, recorder: PipeRecorder) -> Outcome:
        request = job.request
        model = self._load_target(job, recorder)
        recorder.piece = model.piece
        policy = WidthPolicy(self._widths(job, model, recorder))
        recorder.stop_if_cancelled()
        needs_drafter = request.method != "target-only"
        drafter = self._load_drafter(job, recorder) if needs_drafter else None
        self._check_widths(request, policy)
        self._report_engines(job, model, policy, drafter, recorder)
        recorder.flush()
        recorder.stop_if_cancelled()
        self._hear(job, model, drafter, recorder)
        gc.collect()
        gate = self._gatekeeper(request, recorder)
        if request.method in METHODS:
            gate.wait("the request")

        recorder.add(Mark("request", now_ns()))
        if drafter is not None:
            drafter.start_instruction()
        done = model.instruct(model.instruction_ids(request.instruction))
        recorder.add(Span("target", "prefill", done.start_ns, done.end_ns))
        if drafter is not None:
            recorder.add(drafter.instructed())
        target = PaddedTarget(model, policy, request.plain_step)
        recorder.flush()
        gc.disable()
        recorder.add(Mark("decode_start", now_ns(), model.first[0]))
        try:
            outcome = self._work(target, policy, drafter, request, recorder, gate)
        finally:
            gc.enable()
        recorder.add(Mark("eos", outcome.eos_ns), Mark("drained", outcome.end_ns))
        if outcome.status == "failed" or (drafter is not None and not drafter.alive):
            self._start_over()
        return outcome

    def _work(
        self,
        target: PaddedTarget,
        policy: WidthPolicy,
        drafter: DrafterProcess | None,
        request: Request,
        recorder: PipeRecorder,
        gate: Gatekeeper,
    ) -> Outcome:
        if request.method in METHODS:
            return method(request.method)(target, self._proposer(request, drafter, recorder), request, recorder)
        model = self._model
        if drafter is None or model is None:
            raise RequestError(f"{request.method} needs both models.")
        if request.method == "collect":
            return collect(target, drafter, request, recorder)

        def prepare() -> None:
            drafter.start_instruction()
            model.instruct(model.instruction_ids(request.instruction))
            drafter.instructed()

        return calibrate(model, policy, drafter, request, recorder, prepare, gate.wait)

    def _gatekeeper(self, request: Request, recorder: PipeRecorder) -> Gatekeeper:
        def record(look: Conditions) -> None:
            recorder.add(look)
            recorder.flush()  # a sign of life too, while nothing else happens

        return Gatekeeper(request.gates, self._sensors, record, recorder.stop_if_cancelled)

    def _proposer(self, request: Request, drafter: DrafterProcess | None, recorder: PipeRecorder) -> Any:
        if drafter is None:
            return None
        if request.method == "as2d":
            name = request.drafter.name if request.drafter is not None else "drafter"
            return RemoteSource(drafter, recorder, name, request.batch_tokens, request.max_tokens)
        return RemoteSerialDrafter(drafter)

    def _load_target(self, job: Job, recorder: PipeRecorder) -> MnnModel:
        settings = _settings(job, job.placement.target_threads, job.placement.backend)
        asked, loaded = job.placement.target_cores, self._model
        if loaded is not None and (loaded.info.sha256, loaded.settings, self._asked_cores) == (
            job.target.sha256,
            settings,
            asked,
        ):
            return loaded
        # The threads of a loaded model stay where they were started, so that other cores mean another load.
        self._model = None
        self._asked_cores, self._cores = asked, pin(asked, self._allowed)
        self._model = model = MnnModel(job.target, settings)
        self._target_heard = None
        recorder.add(Span("target", "load", model.loaded.start_ns, model.loaded.end_ns))
        return model

    def _load_drafter(self, job: Job, recorder: PipeRecorder) -> DrafterProcess:
        if job.drafter is None:
            raise RequestError(f"The method {job.request.method} needs a drafter model; name one in the request.")
        settings = _settings(job, job.placement.drafter_threads, _drafter_backend(job))
        key = (job.drafter.sha256, settings, job.placement.drafter_cores, self._cores)
        if self._drafter is not None and self._drafter.alive and self._drafter_key == key:
            return self._drafter
        if self._drafter is not None:
            self._drafter.kill()
            self._drafter = None
        self._drafter_heard = None
        self._drafter = DrafterProcess(
            str(job.drafter.path), settings, job.placement.drafter_cores, self._allowed, self._cores or ()
        )
        self._drafter_key = key
        recorder.add(Span("drafter", "load", *self._drafter.loaded))
        return self._drafter

    def _widths(self, job: Job, model: MnnModel, recorder: PipeRecorder) -> tuple[int, ...]:
        given = job.request.target.exact_widths
        key = f"{model.info.sha256} {model.settings}"
        if given:
            self._exact[key] = tuple(sorted(given))
        widths = self._exact.get(key) or self._kept_widths(job, model)
        if widths is None:
            widths = self._exact[key] = self._test_widths(job, model, recorder)
        warm = [1, *widths] if job.request.plain_step else list(widths)
        if not set(warm) <= model.warm:
            model.warm_up(warm)
            self._target_heard = None
        return widths

    def _kept_widths(self, job: Job, model: MnnModel) -> tuple[int, ...] | None:
        folder = self_tests_folder()
        # What a calibration says about widths it has seen itself.
        if folder is None or job.request.method == "calibrate":
            return None
        return kept_widths(folder, _tested_setting(model), MAX_WIDTH)

    def _test_widths(self, job: Job, model: MnnModel, recorder: PipeRecorder) -> tuple[int, ...]:
        self._target_heard = None

        def trying(width: int) -> None:
            recorder.add(Mark(f"{TESTING}{width}" if width else TESTED, now_ns()))
            recorder.flush()

        widest = min(MAX_WIDTH, job.widest or MAX_WIDTH)
        report = find_exact_widths(model, widest, lambda _: recorder.still_works(), trying)
        event: SelfTest = as_event(report, model, cpu_name())
        recorder.add(event)
        folder = self_tests_folder()
        if folder is not None:
            keep_widths(folder, _tested_setting(model), event.exact_widths)
        return event.exact_widths

    def _check_widths(self, request: Request, policy: WidthPolicy) -> None:
        """Refuse a request whose widest verification would not be exact here."""
        if request.method not in ("sd", "specasr", "as2d"):
            return
        policy.pad(widest_asked(request))

    def _report_engines(
        self, job: Job, model: MnnModel, policy: WidthPolicy, drafter: DrafterProcess | None, recorder: PipeRecorder
    ) -> None:
        plain = job.request.plain_step and job.request.method == "target-only"
        widths = (1,) if plain else policy.widths
        asked = job.placement.target_cores
        recorder.add(_engine("target", job.target, model.mnn_version, model.settings, self._cores, asked, widths))
        if drafter is not None and job.drafter is not None:
            settings = _settings(job, job.placement.drafter_threads, _drafter_backend(job))
            asked = job.placement.drafter_cores
            recorder.add(_engine("drafter", job.drafter, drafter.mnn_version, settings, drafter.cores, asked, (1,)))

    def _hear(self, job: Job, model: MnnModel, drafter: DrafterProcess | None, recorder: PipeRecorder) -> None:
        """Audio prefill of both models, before the request's clock starts (Appendix A.1)."""
        audio, instruction = job.audio_sha256, job.request.instruction
        heard = f"{audio} {instruction}"
        if drafter is not None:
            samples = None if self._drafter_heard == heard else job.samples
            self._drafter_heard = None
            drafter.start_hearing(samples, instruction, job.request.drafter_pace_ms)
        width = len(model.instruction_ids(instruction))
        if width not in model.warm:
            model.warm_up([width])
            self._target_heard = None
        if self._target_heard != audio:
            self._target_heard = None
            encode, prefill = model.hear(job.samples)
            recorder.add(
                Span("target", "encode", encode.start_ns, encode.end_ns),
                Span("target", "prefill", prefill.start_ns, prefill.end_ns),
            )
            self._target_heard = audio
        if drafter is not None:
            recorder.add(*drafter.heard())
            self._drafter_heard = heard

    def _text(self, tokens: tuple[int, ...]) -> str:
        model = self._model
        if model is None:
            return ""
        data = b"".join(model.piece(t) for t in tokens if t != model.eos)
        return data.decode("utf-8", "replace")


def _settings(job: Job, threads: int, backend: str) -> Settings:
    return Settings(threads, job.request.precision, job.request.memory, backend)


def _tested_setting(model: MnnModel) -> SelfTestSetting:
    settings = model.settings
    return SelfTestSetting(
        model_sha256=model.info.sha256,
        cpu=cpu_name(),
        threads=settings.threads,
        precision=settings.precision,
        memory=settings.memory,
        backend=settings.backend,
        mnn_version=model.mnn_version,
    )


def _drafter_backend(job: Job) -> str:
    return job.placement.drafter_backend or job.placement.backend


def _engine(
    role: str,
    info: ModelInfo,
    version: str,
    settings: Settings,
    cores: tuple[int, ...] | None,
    asked_cores: tuple[int, ...],
    widths: tuple[int, ...],
) -> Engine:
    return Engine(
        role=role,
        model=info.name,
        model_sha256=info.sha256,
        mnn_version=version,
        backend=settings.backend,
        threads=settings.threads,
        precision=settings.precision,
        memory=settings.memory,
        cores=cores,
        asked_cores=asked_cores,
        widths=widths,
    )
