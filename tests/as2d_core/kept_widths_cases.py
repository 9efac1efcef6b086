"""What may lie where a runner has kept widths, and must not be taken for what it found."""

from as2d_core.engines.self_test import MAX_WIDTH

KEPT = (2, 3, 5, MAX_WIDTH)
_WORDS = b"[2,3,5,16]"
_BEGIN = b'{"setting":'
DAMAGE = {
    "an empty file": lambda _: b"",
    "the beginning": lambda whole: whole[:-1],
    "half of it": lambda whole: whole[: len(whole) // 2],
    "something behind it": lambda whole: whole + b"}",
    "space behind it": lambda whole: whole + b" ",
    "much behind it": lambda whole: whole + b" " * 100_000,
    "it twice": lambda whole: whole + whole,
    "no text": lambda whole: b"\xff" + whole[1:],
    "zeros": lambda whole: bytes(len(whole)),
    "a list": lambda whole: b"[" + whole + b"]",
    "a number": lambda _: b"16",
    "endless nesting": lambda _: b"[" * 100_000,
    "no widths": lambda whole: whole.replace(b',"exact_widths":' + _WORDS, b""),
    "widths under another name": lambda whole: whole.replace(b"exact_widths", b"widths"),
    "no setting": lambda _: b'{"exact_widths":' + _WORDS + b"}",
    "another setting": lambda whole: whole.replace(b'"precision":"high"', b'"precision":"low"'),
    "threads as a text": lambda whole: whole.replace(b'"threads":2', b'"threads":"2"'),
    "something more": lambda whole: whole.replace(_BEGIN, b'{"more":1,"setting":'),
    **{
        f"the widths {words.decode()}": lambda whole, words=words: whole.replace(_WORDS, words)
        for words in (
            *(b"[]", b"null", b"2", b'"2"', b"{}", b"[null]", b"[true]", b"[2.0]", b'["2"]', b"[[2]]"),
            *(b"[0,2]", b"[-1,2]", b"[2,17]", b"[2,2]", b"[3,2]", b"[1e1]", b"[NaN]", b"[2,99999999999999999999]"),
        )
    },
}
"""Each from a whole file for two threads and precision high, in which ``KEPT`` stands."""
