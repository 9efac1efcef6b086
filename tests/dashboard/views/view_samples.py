"""Run records for the view tests: the real methods on scripted models, a phone's costs and a virtual clock."""

from collections.abc import Sequence
from dataclasses import replace

from as2d_core.engines.drafting import BranchDrafter
from as2d_core.engines.scripted import ScriptedModel, ScriptedSource, ScriptedTarget, VirtualClock
from as2d_core.engines.scripted_run import RunFacts, run_virtually
from as2d_core.profiles import Profile, load_profile
from as2d_core.protocol import Writer, parse
from as2d_core.records import End, Pieces, RunRecord, Span, Telemetry
from as2d_core.replay.schedule import autoregressive_schedule
from as2d_core.request import AudioRef, ModelRef, Request

MS = 1_000_000
EOS = 0
PREFILL_MS = 412
REFERENCE = (
    "when the train pulled out of the station the old man put down his paper and looked across the valley "
    "where the first lights of the village had begun to show and he said that it would be a clear night after all "
    "because the wind had turned and the clouds were moving slowly out over the sea towards the islands"
)
DRAFT = (
    "when the train pulled out of the nation the old man put down his papers and looked across valley "
    "where the first light of the village had begun to show and then he said that it would be a clear knight after "
    "all because the wind had turned and the crowds were moving slowly out of the sea towards the island"
)


class Vocabulary:
    """Words to token ids; id 0 is EOS."""

    def __init__(self) -> None:
        self.ids: dict[bytes, int] = {b"<|im_end|>": EOS}

    def encode(self, pieces: Sequence[bytes]) -> tuple[int, ...]:
        return tuple(self.ids.setdefault(piece, len(self.ids)) for piece in pieces)

    def words(self, text: str) -> tuple[int, ...]:
        return self.encode([(" " + word if i else word).encode() for i, word in enumerate(text.split(" "))])

    def pieces(self) -> Pieces:
        text, hexed = {}, {}
        for piece, token in self.ids.items():
            try:
                text[str(token)] = piece.decode()
            except UnicodeDecodeError:
                hexed[str(token)] = piece.hex()
        return Pieces(text, hexed)


class ForgetfulDrafter:
    """A drafter that knows the reference except for every ninth word, and is unsure of every thirteenth."""

    def __init__(self, output: Sequence[int], wrong: int) -> None:
        self.output, self.wrong = output, wrong

    def __call__(self, prefix: tuple[int, ...]) -> tuple[int, float]:
        position = len(prefix)
        if position >= len(self.output):
            return EOS, 0.99
        if position % 9 == 8:
            return self.wrong, 0.55 if position % 2 else 0.31
        return self.output[position], 0.35 if position % 13 == 12 else 0.93


def run_lines(
    method_name: str = "as2d",
    *,
    reference: Sequence[bytes] | str = REFERENCE,
    draft: Sequence[bytes] | str = DRAFT,
    profile: Profile | None = None,
    telemetry: bool = False,
    source: str = "replayed",
    **request: object,
) -> list[str]:
    """The lines of a run file, prefill, text of tokens and sensor readings included."""
    profile = profile or load_profile("k70")
    words = Vocabulary()
    output = (*(words.words(reference) if isinstance(reference, str) else words.encode(reference)), EOS)
    drafted = words.words(draft) if isinstance(draft, str) else words.encode(draft)
    wrong = words.encode([b" wrong"])[0]
    settings = {"as2d": {"budget": 7}, "sd": {"width": 5}, "specasr": {"draft_cap": 14}, "target-only": {}}[method_name]
    asked = Request(
        **{
            "run_id": f"{method_name}-8f3a",
            "method": method_name,
            "target": ModelRef("models/target", "Qwen3-ASR-1.7B"),
            "drafter": None if method_name == "target-only" else ModelRef("models/drafter", "Qwen3-ASR-0.6B"),
            "audio": AudioRef("long-07.wav", duration_s=24.1, window_id="long-07"),
            **settings,
            **request,
        }
    )
    clock = VirtualClock()
    clock.advance_to(PREFILL_MS)
    target = ScriptedTarget(clock, output, EOS, profile.target_costs())
    match method_name:
        case "as2d":
            schedule = autoregressive_schedule(len(drafted), asked.batch_tokens, profile.draft_overlapped_ms, 1.5)
            confidences = [0.31 if i % 13 == 12 else 0.92 for i in range(len(drafted))]
            drafter = ScriptedSource(clock, drafted, schedule, confidences, 1.5)
        case "target-only":
            drafter = None
        case _:
            drafter = BranchDrafter(ScriptedModel(clock, ForgetfulDrafter(output, wrong), EOS, profile.draft_serial_ms))
    facts = RunFacts({"model": profile.name}, source, "2025-03-01T10:00:00Z")
    record = run_virtually(asked, target, drafter, clock, facts).record
    start_ns, end_ns = record.marks["decode_start"].time_ns, record.marks["drained"].time_ns
    events = [
        record.header,
        words.pieces(),
        replace(record.marks["request"], time_ns=0, extra={}),
        Span("target", "prefill", 0, start_ns),
        record.marks["decode_start"],
        *sorted([*record.spans, *record.rounds, *record.publications], key=lambda e: getattr(e, "end_ns", 0)),
        record.marks["eos"],
        record.marks["drained"],
        *(_readings(start_ns, end_ns) if telemetry else ()),
    ]
    out: list[str] = []
    writer = Writer(out.append)
    for event in events:
        writer.add(event)
    writer.end(record.status, len(record.tokens))
    return out


def decode(method_name: str = "as2d", **settings: object) -> RunRecord:
    """Run one method and read its file back, so that the tests see what a store would hold."""
    record = parse(run_lines(method_name, **settings))
    assert not record.problems
    return record


def cut_off(keep: float, method_name: str = "as2d", **settings: object) -> RunRecord:
    """The record of a run whose stream broke off after a share of its lines."""
    lines = run_lines(method_name, **settings)
    return parse(lines[: int(len(lines) * keep)])


def ended(record: RunRecord, status: str, error: str | None = None) -> RunRecord:
    """The same record with another ending, as a runner would have written it."""
    assert record.end is not None
    return replace(record, end=End(status, len(record.tokens), record.end.counts, record.end.sha256, None, error))


def _readings(start_ns: int, end_ns: int) -> list[Telemetry]:
    return [
        Telemetry(
            now,
            battery_temperature_c=None if i == 3 else 33.0 + 0.2 * i,
            battery_current_ma=-980.0 - 40 * (i % 3),
            battery_voltage_mv=3905.0,
            charging=False,
            thermal_status=0,
            core_mhz=(1804.0, 1804.0, 2803.0 - 90 * i, None),
        )
        for i, now in enumerate(range(start_ns, end_ns, 500 * MS))
    ]
