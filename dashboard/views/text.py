"""How is token text shown? As data: joined as bytes, made visible where it is invisible, never as markup.

A token may hold part of a UTF-8 character, a control character, a direction override or a piece of HTML. Whatever it
holds, what leaves this module is safe to put between HTML tags, into an attribute or into a figure's label.
"""

import codecs
import html
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PICTURES = {"\n": "↵", "\r": "␍", "\t": "⇥"}
_JOINERS = "\u200c\u200d"  # part of correct spelling in several scripts, and harmless in running text


def escape(text: str) -> str:
    """Text between tags or in a quoted attribute; also keeps figures from reading ``$...$`` as a formula."""
    return html.escape(text, quote=True).replace("$", "&#36;")


def visible(text: str, spaces: bool = True) -> str:
    """Show what cannot be seen: control characters, line breaks, direction marks and, if asked, spaces.

    The result is plain text: escape it before it goes into HTML.
    """
    if not spaces and text.isprintable():
        return text
    return "".join(_visible(char, spaces) for char in text)


def _visible(char: str, spaces: bool) -> str:
    if char == " ":
        return "·" if spaces else char
    if char in _PICTURES:
        return _PICTURES[char]
    if char < " ":
        return chr(0x2400 + ord(char))
    if char in _JOINERS and not spaces:
        return char
    category = unicodedata.category(char)
    if category in _INVISIBLE:
        return f"⟨U+{ord(char):04X}⟩"
    if category == "Zs" and spaces:
        return "⍽"
    return char


def token_texts(tokens: Sequence[int], pieces: Mapping[int, bytes]) -> list[str]:
    """Text of each token in a sequence; joined, the texts are the decoded sequence.

    A character whose bytes are spread over several tokens belongs to the token that completes it; bytes that never
    become a character turn into U+FFFD. A token whose text is not known shows its number.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts: list[str] = []
    for token in tokens:
        piece = _piece(token, pieces)
        if piece is None:
            if texts:
                texts[-1] += decoder.decode(b"", final=True)
            decoder.reset()
            texts.append(f"⟨{token}⟩")
        else:
            texts.append(decoder.decode(piece))
    if texts:
        texts[-1] += decoder.decode(b"", final=True)
    return texts


def _piece(token: object, pieces: Mapping[int, bytes]) -> bytes | None:
    """Bytes of a token; a token that is no number (another program wrote the record) has none."""
    return pieces.get(token) if isinstance(token, int) else None


def joined(tokens: Sequence[int], pieces: Mapping[int, bytes]) -> str:
    """The text of a whole sequence."""
    return "".join(token_texts(tokens, pieces))


def alone(token: int, pieces: Mapping[int, bytes]) -> str:
    """A single token as a chip shows it: visible, bytes that are no character in hex, never empty."""
    piece = _piece(token, pieces)
    if piece is None:
        return visible(f"⟨{token}⟩")
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        return f"⟨{piece.hex(' ')}⟩"
    return visible(text) or "∅"


def shortened(text: str, limit: int = 60) -> str:
    """At most ``limit`` characters, the cut marked."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def label(text: object, limit: int = 60) -> str:
    """Foreign text (a name, a window, a token) ready for a figure or a line of HTML."""
    return escape(shortened(visible(str(text), spaces=False), limit))


def paragraph(content: str, width: int = 72, limit: int = 360) -> str:
    """A sentence for hover text, in lines that fit beside the mark that it is about."""
    shown = shortened(visible(content, spaces=False), limit)
    return lines(escape(line) for line in textwrap.wrap(shown, width))


def style(declarations: Mapping[str, str | None]) -> str:
    """A ``style`` attribute's value; entries that are ``None`` are left out."""
    return html.escape(";".join(f"{name}:{value}" for name, value in declarations.items() if value is not None))


def element(tag: str, content: str, declarations: Mapping[str, str | None] | None = None, **attributes: str) -> str:
    """One HTML element around content that is safe already; attribute values are escaped here."""
    parts = [tag]
    if declarations:
        parts.append(f'style="{style(declarations)}"')
    parts.extend(f'{name.rstrip("_").replace("_", "-")}="{escape(value)}"' for name, value in attributes.items())
    return f"<{' '.join(parts)}>{content}</{tag}>"


def lines(items: Iterable[str]) -> str:
    """Hover text: safe lines joined, empty ones left out."""
    return "<br>".join(item for item in items if item)
