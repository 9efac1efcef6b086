"""What is said in the demo corpus: seeded sentences with their German translation and questions about them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from as2d_core.models.training import words

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One thing that is said. Text is lower case without a final full stop; a comma stands alone."""

    kind: str
    english: str
    german: str
    questions: tuple[tuple[str, str], ...]
    """Question (without its mark) and answer, both English; at least one."""


class Draw:
    """Seeded choices among the words."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def index(self, count: int) -> int:
        """A number below ``count``."""
        return int(self.rng.integers(count))

    def name(self) -> str:
        return words.NAMES[self.index(len(words.NAMES))]

    def two_names(self) -> tuple[str, str]:
        first, second = self.rng.choice(len(words.NAMES), 2, replace=False)
        return words.NAMES[first], words.NAMES[second]

    def pair(self, table: dict[str, T]) -> tuple[str, T]:
        """An entry: the English words and what the table holds for them."""
        key = tuple(table)[self.index(len(table))]
        return key, table[key]

    def two_pairs(self, table: dict[str, T]) -> tuple[tuple[str, T], tuple[str, T]]:
        """Two different entries."""
        keys = tuple(table)
        first, second = self.rng.choice(len(keys), 2, replace=False)
        return (keys[first], table[keys[first]]), (keys[second], table[keys[second]])

    def number(self, low: int, high: int) -> tuple[str, str]:
        """Words of a number from ``low`` to ``high``, both included."""
        return words.number(int(self.rng.integers(low, high + 1)))

    def time(self) -> tuple[str, str]:
        return words.clock_time(1 + self.index(12), self.index(6))


_Said: TypeAlias = tuple[str, str, list[tuple[str, str]]]
"""English, German, questions with answers."""


def _meeting(draw: Draw) -> _Said:
    event, german_event = draw.pair(words.EVENTS)
    name = draw.name()
    (day, german_day), (time, german_time) = draw.pair(words.DAYS), draw.time()
    english = (
        f"the {event} with {name} is on {day} at {time}",
        f"on {day} at {time} the {event} with {name} begins",
    )[draw.index(2)]
    return (
        english,
        f"{german_event} mit {name} ist am {german_day} um {german_time}",
        [
            (f"what time is the {event}", f"the {event} is at {time}"),
            (f"what day is the {event}", f"the {event} with {name} is on {day}"),
            (f"who is at the {event}", f"{name} is at the {event} on {day}"),
        ],
    )


def _shopping(draw: Draw) -> _Said:
    (first, german_first), (second, german_second) = draw.two_pairs(words.FOOD)
    counted, german_counted = draw.pair(words.COUNTABLE_FOOD)
    count, german_count = draw.number(2, 24)
    who, german_who = draw.pair(words.PEOPLE)
    form = draw.index(3)
    if form == 0:
        wanted = f"we need {first} , {second} and {count} {counted}"
        german = f"wir brauchen {german_first} , {german_second} und {german_count} {german_counted}"
        return wanted, german, [("what do we need", wanted)]
    if form == 1:
        order = f"{who} should buy {count} {counted} and some {first}"
        german = f"{german_who} soll {german_count} {german_counted} und etwas {german_first} kaufen"
        return order, german, [(f"what should {who} buy", order)]
    return (
        f"please put {count} {counted} and some {first} on the list",
        f"bitte setze {german_count} {german_counted} und etwas {german_first} auf die liste",
        [("what goes on the list", f"{count} {counted} and some {first} go on the list")],
    )


def _weather(draw: Draw) -> _Said:
    city, german_city = draw.pair(words.CITIES)
    (first, german_first), (second, german_second) = draw.two_pairs(words.WEATHER)
    day, german_day = draw.pair(words.DAYS)
    degrees, german_degrees = draw.number(2, 35)
    form = draw.index(3)
    if form == 0:
        return (
            f"the weather in {city} will be {first} and {second} on {day}",
            f"das wetter in {german_city} wird am {german_day} {german_first} und {german_second}",
            [(f"how is the weather in {city}", f"the weather in {city} will be {first} and {second}")],
        )
    if form == 1:
        return (
            f"it is {first} in {city} with {degrees} degrees",
            f"es ist {german_first} in {german_city} bei {german_degrees} grad",
            [(f"how warm is it in {city}", f"it is {degrees} degrees in {city}")],
        )
    change = f"on {day} it was {first} but now it is {second}"
    german = f"am {german_day} war es {german_first} aber jetzt ist es {german_second}"
    return change, german, [(f"how was it on {day}", change)]


def _way(draw: Draw) -> _Said:
    (place, (german_to, german_at)), (goal, (german_to_goal, german_at_goal)) = draw.two_pairs(words.PLACES)
    side, german_side = draw.pair(words.SIDES)
    minutes, german_minutes = draw.number(2, 19)
    form = draw.index(3)
    if form == 0:
        return (
            f"turn {side} at the {place} and walk {minutes} minutes to the {goal}",
            f"biege {german_at} {german_side} ab und gehe {german_minutes} minuten {german_to_goal}",
            [
                (f"how far is the {goal}", f"walk {minutes} minutes to the {goal}"),
                ("where do i turn", f"turn {side} at the {place}"),
            ],
        )
    if form == 1:
        ordinal, german_ordinal = tuple(words.ORDINALS.items())[draw.index(4)]
        return (
            f"take the {ordinal} street on the {side} to reach the {place}",
            f"nimm die {german_ordinal.removesuffix('n')} straße {german_side} um {german_to} zu kommen",
            [(f"how do i reach the {place}", f"take the {ordinal} street on the {side}")],
        )
    distance = f"the {place} is {minutes} minutes from the {goal}"
    german = f"{german_to} sind es {german_minutes} minuten wenn man {german_at_goal} ist"
    return distance, german, [(f"how far is the {place}", distance)]


def _birthday(draw: Draw) -> _Said:
    name = draw.name()
    (month, german_month), (day, german_day) = draw.pair(words.MONTHS), draw.pair(words.ORDINALS)
    fact = f"the birthday of {name} is on the {day} of {month}"
    german = f"der geburtstag von {name} ist am {german_day} {german_month}"
    return fact, german, [(f"when is the birthday of {name}", fact)]


def _train(draw: Draw) -> _Said:
    (city, german_city), (time, german_time) = draw.pair(words.CITIES), draw.time()
    platform, german_platform = draw.number(1, 24)
    return (
        f"the train to {city} leaves at {time} from platform {platform}",
        f"der zug nach {german_city} fährt um {german_time} von gleis {german_platform}",
        [
            (f"when does the train to {city} leave", f"the train to {city} leaves at {time}"),
            (f"which platform is the train to {city}", f"the train to {city} leaves from platform {platform}"),
        ],
    )


def _price(draw: Draw) -> _Said:
    (thing, german_thing), (colour, german_colour) = draw.pair(words.THINGS), draw.pair(words.COLOURS)
    article, noun = german_thing.split()
    euros, german_euros = draw.number(2, 99)
    fact = f"the {colour} {thing} costs {euros} euros"
    german = f"{article} {german_colour} {noun} kostet {german_euros} euro"
    return fact, german, [(f"how much is the {thing}", fact)]


def _found(draw: Draw) -> _Said:
    name = draw.name()
    (thing, german_thing), (colour, german_colour) = draw.pair(words.THINGS), draw.pair(words.COLOURS)
    room, german_room = draw.pair(words.ROOMS)
    article, noun = german_thing.split()
    if draw.index(2):
        fact = f"the {colour} {thing} is in the {room}"
        return fact, f"{article} {german_colour} {noun} ist {german_room}", [(f"where is the {thing}", fact)]
    if article == "der":  # the only article whose accusative differs
        article, german_colour = "den", f"{german_colour}n"
    return (
        f"{name} found the {colour} {thing} in the {room}",
        f"{name} hat {article} {german_colour} {noun} {german_room} gefunden",
        [(f"who found the {thing}", f"{name} found the {thing} in the {room}")],
    )


def _diary(draw: Draw) -> _Said:
    when, german_when = draw.pair(words.TIMES_AGO)
    (deed, german_deed), (other, german_other) = draw.two_pairs(words.DEEDS)
    (mood, german_mood), name = draw.pair(words.MOODS), draw.name()
    form = draw.index(3)
    if form == 0:
        return (
            f"{when} i {deed} and {other}",
            f"{german_when} habe ich {german_deed} und {german_other}",
            [(f"what did i do {when}", f"{when} you {deed} and {other}")],
        )
    if form == 1:
        return (
            f"i {deed} with {name} and felt {mood}",
            f"ich habe mit {name} {german_deed} und war {german_mood}",
            [("how did i feel", f"you felt {mood} with {name}")],
        )
    return (
        f"{when} i was {mood} because i {deed}",
        f"{german_when} war ich {german_mood} weil ich {german_deed} habe",
        [(f"how was i {when}", f"{when} you were {mood}")],
    )


def _going(draw: Draw) -> _Said:
    who, german_who = draw.pair(words.PEOPLE)
    place, (german_to, german_at) = draw.pair(words.PLACES)
    (day, german_day), (city, german_city), name = draw.pair(words.DAYS), draw.pair(words.CITIES), draw.name()
    form = draw.index(3)
    if form == 0:
        return (
            f"{who} is going to the {place} with {name}",
            f"{german_who} geht mit {name} {german_to}",
            [(f"where is {who} going", f"{who} is going to the {place}")],
        )
    if form == 1:
        fact = f"{name} is flying to {city} on {day}"
        return fact, f"{name} fliegt am {german_day} nach {german_city}", [(f"where is {name} flying", fact)]
    return (
        f"{who} works at the {place} until {day}",
        f"{german_who} arbeitet bis {german_day} {german_at}",
        [(f"where does {who} work", f"{who} works at the {place}")],
    )


def _talk(draw: Draw) -> _Said:
    name, other = draw.two_names()
    (topic, german_topic), (day, german_day) = draw.pair(words.TOPICS), draw.pair(words.DAYS)
    form = draw.index(3)
    if form == 0:
        return (
            f"{name} talked about the {topic} with {other}",
            f"{name} hat mit {other} über {german_topic} gesprochen",
            [(f"what did {name} talk about", f"{name} talked about the {topic}")],
        )
    if form == 1:
        return (
            f"we discussed the {topic} and {name} will finish it by {day}",
            f"wir haben über {german_topic} gesprochen und {name} wird bis {german_day} fertig",
            [("what did we discuss", f"we discussed the {topic} with {name}")],
        )
    return (
        f"please send the {topic} notes to {name} before {day}",
        f"bitte schicke {name} vor {german_day} die notizen über {german_topic}",
        [("who gets the notes", f"send the {topic} notes to {name}")],
    )


def _phone(draw: Draw) -> _Said:
    name = draw.name()
    digits = [words.number(draw.index(10)) for _ in range(4 + draw.index(3))]
    english, german = (" ".join(digit[language] for digit in digits) for language in (0, 1))
    fact = f"the number of {name} is {english}"
    return fact, f"die nummer von {name} ist {german}", [(f"what is the number of {name}", fact)]


def _reminder(draw: Draw) -> _Said:
    (minutes, german_minutes), name = draw.number(2, 59), draw.name()
    (time, german_time), (day, german_day) = draw.time(), draw.pair(words.DAYS)
    form = draw.index(3)
    if form == 0:
        return (
            f"remind me in {minutes} minutes to call {name}",
            f"erinnere mich in {german_minutes} minuten {name} anzurufen",
            [("when should i call", f"call {name} in {minutes} minutes")],
        )
    if form == 1:
        german = f"wecke mich am {german_day} um {german_time}"
        return f"wake me up at {time} on {day}", german, [("when should i wake up", f"wake up at {time} on {day}")]
    order = f"call {name} back before {time}"
    return order, f"rufe {name} vor {german_time} zurück", [("who should i call", order)]


_KINDS: tuple[Callable[[Draw], _Said], ...] = (
    _meeting,
    _shopping,
    _weather,
    _way,
    _birthday,
    _train,
    _price,
    _found,
    _diary,
    _going,
    _talk,
    _phone,
    _reminder,
)
KINDS = tuple(kind.__name__.removeprefix("_") for kind in _KINDS)


def draw_sentence(rng: np.random.Generator) -> Sentence:
    """One sentence of a random kind."""
    draw = Draw(rng)
    kind = draw.index(len(_KINDS))
    english, german, questions = _KINDS[kind](draw)
    return Sentence(KINDS[kind], english, german, tuple(questions))


def written(sentences: Sequence[str]) -> str:
    """Sentences as the models write them: each ends with a full stop, a comma follows its word at once."""
    return " ".join(sentence.replace(" ,", ",") + "." for sentence in sentences)
