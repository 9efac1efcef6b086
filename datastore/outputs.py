"""Which tokens did runs commit? Those of many runs at once, without the rest of their records."""

from collections.abc import Sequence

from datastore.lookup import askable
from datastore.store import Store


def committed_tokens(store: Store, run_ids: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Committed tokens by run id, the first one (selected by prefill) included.

    Runs that are not there, and those with a round that does not fit its columns, are left out.
    """
    if not run_ids:
        return {}
    names = askable(list(dict.fromkeys(run_ids)))
    rows = store.read(
        f"""
        WITH asked AS (SELECT run_no, run_id FROM runs WHERE run_id IN ({", ".join("?" * len(names))})),
        firsts AS (
            SELECT run_no, arg_min(token, ordinal) AS token FROM marks
            WHERE name = 'decode_start' AND run_no IN (SELECT run_no FROM asked) GROUP BY run_no
        ),
        rest AS (
            SELECT run_no, flatten(list(coalesce(committed, []) ORDER BY ordinal)) AS tokens, count(raw_json) AS odd
            FROM rounds WHERE run_no IN (SELECT run_no FROM asked) GROUP BY run_no
        )
        SELECT run_id, token, tokens, coalesce(odd, 0)
        FROM asked LEFT JOIN firsts USING (run_no) LEFT JOIN rest USING (run_no)
        """,  # noqa: S608
        names,
    )
    return {
        run_id: (*(() if token is None else (token,)), *(tokens or ()))
        for run_id, token, tokens, odd in rows
        if not odd
    }
