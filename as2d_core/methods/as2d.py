"""As²d: a source drafts on its own clock, the target verifies what is ready and never waits (Section 4).

One round is: take what has been published, align the cursor, take a chain, verify it in one
forward, commit. The decisions are those of replay, because the functions are the same.
"""

from dataclasses import replace

from as2d_core.alignment import RULE_NAMES, STOP, align_step, chain_length
from as2d_core.buffer import CandidateBuffer
from as2d_core.engines.base import Recorder, Source, Target
from as2d_core.errors import DrafterLostError, RequestError
from as2d_core.methods.base import Outcome, finished
from as2d_core.records import Round, Span
from as2d_core.request import Request
from as2d_core.verification import commit
from as2d_core.width_rule import ruled_length


def decode(target: Target, drafter: Source, request: Request, recorder: Recorder) -> Outcome:
    """Decode with target-decoupled drafting under proposal budget ``request.budget``.

    When the producer dies, the target goes on alone: the output stays exact, and the outcome is
    ``failed`` with the reason, since the run is no As²d measurement any more.
    """
    if request.budget is None:
        raise RequestError("As²d needs a proposal budget; give one with budget.")
    rule = request.width_rule
    if rule is not None and request.budget > rule.max_budget:
        raise RequestError(
            f"The width rule covers budgets up to {rule.max_budget}, not {request.budget}; give a smaller budget."
        )
    state = _State(target, drafter, request)
    lost: str | None = None
    try:
        drafter.start(recorder.now_ns())
    except DrafterLostError as error:
        lost = str(error)
        state.source_alive = False
    while (status := finished(state.tokens, target.eos, request.max_tokens, recorder)) is None:
        try:
            recorder.add(*state.round(recorder))
        except DrafterLostError as error:
            lost = str(error)
            state.source_alive = False
    eos_ns = recorder.now_ns()
    drain = drafter.stop(eos_ns)
    lost = lost or drain.lost
    recorder.add(*drain.publications, *drain.spans)
    end_ns = max(eos_ns, drain.end_ns)
    if drain.end_ns > eos_ns:
        recorder.add(Span("drafter", "drain", eos_ns, drain.end_ns))
    if lost is not None and status != "cancelled":
        return Outcome("failed", tuple(state.tokens), eos_ns, end_ns, lost)
    return Outcome(status, tuple(state.tokens), eos_ns, end_ns)


class _State:
    """What is carried from one boundary to the next."""

    def __init__(self, target: Target, source: Source, request: Request) -> None:
        self.target, self.source, self.request = target, source, request
        self.buffer = CandidateBuffer(target.eos, request.threshold)
        self.tokens = [target.first_token]
        self.cursor = 0
        self.consumed = 0
        self.index = 0
        self.visible_at_rejection = 0
        self.source_alive = True
        self.rule = () if request.width_rule is None else request.width_rule.table

    def round(self, recorder: Recorder) -> tuple[Span | Round, ...]:
        """Run one round; returns its spans and its record."""
        # The boundary is read after the poll, so that no batch is seen before it was published.
        batches = self.source.poll() if self.source_alive else []
        running = self.source_alive and self.source.running
        start_ns = recorder.now_ns()
        for batch in batches:
            self.buffer.publish(batch)
            recorder.add(replace(batch, received_ns=start_ns))
        visible, cursor_before = self.buffer.visible, self.cursor
        moves = self._align(visible)
        chain, reason = self._chain(visible, running)
        chain_start = self.cursor
        call = self.target.verify(self.tokens[-1], chain, running)
        room = self.request.max_tokens - len(self.tokens)
        accepted, committed = commit(chain, call.greedy, self.target.eos, room)
        self.tokens.extend(committed)
        if chain:
            self.cursor += accepted
            self.consumed = len(self.tokens) - 1
        self.target.keep(len(self.tokens) - 1)
        reused = max(0, min(len(chain), self.visible_at_rejection - chain_start))
        origins = "r" * reused + "d" * (len(chain) - reused)
        if accepted < len(chain):
            self.visible_at_rejection = visible
        end_ns = recorder.now_ns()
        record = Round(
            index=self.index,
            start_ns=start_ns,
            end_ns=end_ns,
            width=len(chain) + 1,
            physical_width=call.physical_width,
            proposed=len(chain),
            accepted=accepted,
            committed=committed,
            candidates=chain,
            origins=origins,
            cursor_before=cursor_before,
            cursor_after=self.cursor,
            visible=visible,
            source_running=running,
            width_reason=reason,
            moves=moves,
            call_ns=call.end_ns - call.start_ns,
        )
        spans = (
            Span("target", "align", start_ns, call.start_ns, self.index),
            Span("target", "verify" if chain else "step", call.start_ns, call.end_ns, self.index),
            Span("target", "correct", call.end_ns, end_ns, self.index),
        )
        self.index += 1
        return (*spans, record)

    def _align(self, visible: int) -> tuple[tuple[str, int, int], ...]:
        moves = []
        committed = len(self.tokens)
        while self.consumed < committed and self.cursor < visible:
            before = self.cursor
            rule, self.cursor, self.consumed = align_step(
                self.buffer.tokens,
                visible,
                self.tokens,
                committed,
                self.cursor,
                self.consumed,
                self.request.search_window,
            )
            moves.append((RULE_NAMES[rule], before, self.cursor))
            if rule == STOP:
                break
        return tuple(moves)

    def _chain(self, visible: int, running: bool) -> tuple[tuple[int, ...], str]:
        if self.consumed != len(self.tokens):
            waiting = self.cursor < visible
            return (), "awaiting target token" if waiting else "no candidates"
        budget = self.request.budget or 0
        length = chain_length(
            self.buffer.low_confidence, self.cursor, visible, len(self.tokens), budget, self.request.max_tokens
        )
        if length == 0:
            return (), "no candidates" if self.cursor >= visible else "budget"
        taken = ruled_length(self.rule, length, running)
        if taken < length:
            return tuple(self.buffer.tokens[self.cursor : self.cursor + taken]), "cheapest"
        chain = tuple(self.buffer.tokens[self.cursor : self.cursor + length])
        if length == budget:
            reason = "budget"
        elif length == visible - self.cursor:
            reason = "ready"
        elif self.buffer.low_confidence[self.cursor + length - 1]:
            reason = "confidence"
        else:
            reason = "output cap"
        return chain, reason
