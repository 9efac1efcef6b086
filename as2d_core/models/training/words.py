"""Which words can the demo corpus say, in English and German?"""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _pairs(text: str) -> dict[str, str]:
    """``"red rote, blue blaue"`` as a dictionary."""
    return dict(pair.split(None, 1) for pair in text.split(","))


NAMES = _words(
    "anna peter maria david sarah thomas julia robert emma oliver sophie daniel laura martin nina simon clara victor "
    "helen lucas eva george rosa felix alice henry monica frank greta oscar tina walter"
)
DAYS = _pairs(
    "monday montag, tuesday dienstag, wednesday mittwoch, thursday donnerstag, friday freitag, saturday samstag, "
    "sunday sonntag"
)
MONTHS = _pairs(
    "january januar, february februar, march märz, april april, may mai, june juni, july juli, august august, "
    "september september, october oktober, november november, december dezember"
)
CITIES = _pairs(
    "london london, paris paris, berlin berlin, vienna wien, rome rom, madrid madrid, hamburg hamburg, "
    "munich münchen, dublin dublin, oslo oslo, zurich zürich, lisbon lissabon, prague prag, geneva genf"
)
FOOD = _pairs(
    "bread brot, milk milch, cheese käse, apples äpfel, coffee kaffee, sugar zucker, rice reis, tomatoes tomaten, "
    "chicken hähnchen, water wasser, eggs eier, butter butter, potatoes kartoffeln, onions zwiebeln, "
    "bananas bananen, carrots karotten, tea tee, oranges orangen, lemons zitronen, mushrooms pilze, honey honig, "
    "salt salz, flour mehl, pasta nudeln, yoghurt joghurt, fish fisch, ham schinken, chocolate schokolade, "
    "grapes trauben, pepper pfeffer, soup suppe, salad salat"
)
COUNTABLE_FOOD = {
    word: FOOD[word] for word in _words("apples tomatoes eggs potatoes onions bananas carrots oranges lemons mushrooms")
}
COLOURS = _pairs(
    "red rote, blue blaue, green grüne, yellow gelbe, black schwarze, white weiße, brown braune, old alte, "
    "new neue, small kleine, big große"
)
WEATHER = _pairs(
    "cold kalt, warm warm, sunny sonnig, rainy regnerisch, windy windig, cloudy bewölkt, foggy neblig, "
    "stormy stürmisch, dry trocken, humid feucht, mild mild, icy eisig"
)
MOODS = _pairs(
    "tired müde, happy glücklich, hungry hungrig, nervous nervös, bored gelangweilt, relaxed entspannt, "
    "worried besorgt, proud stolz, sick krank, surprised überrascht"
)
EVENTS = _pairs(
    "meeting die besprechung, interview das gespräch, concert das konzert, lesson der unterricht, "
    "dinner das abendessen, appointment der termin, lecture der vortrag, rehearsal die probe"
)
THINGS = _pairs(
    "lamp die lampe, book das buch, bag die tasche, jacket die jacke, bicycle das fahrrad, "
    "umbrella der regenschirm, key der schlüssel, camera die kamera, phone das telefon, ticket die fahrkarte, "
    "wallet die brieftasche, chair der stuhl, watch die uhr, letter der brief, guitar die gitarre, "
    "suitcase der koffer, laptop der computer, blanket die decke"
)
TOPICS = {  # in the accusative: "über ..."
    "budget": "das budget",
    "project": "das projekt",
    "holiday": "den urlaub",
    "contract": "den vertrag",
    "report": "den bericht",
    "new design": "den neuen entwurf",
    "schedule": "den zeitplan",
    "party": "die feier",
    "summer trip": "die sommerreise",
    "repairs": "die reparaturen",
}
PEOPLE = {
    "my brother": "mein bruder",
    "my sister": "meine schwester",
    "my mother": "meine mutter",
    "my father": "mein vater",
    "my neighbour": "mein nachbar",
    "the doctor": "der arzt",
    "the teacher": "der lehrer",
    "my cousin": "mein cousin",
    "the manager": "der chef",
    "my uncle": "mein onkel",
    "my aunt": "meine tante",
}
DEEDS = {  # past tense, participle with its object
    "read a book": "ein buch gelesen",
    "cooked dinner": "das abendessen gekocht",
    "played football": "fußball gespielt",
    "cleaned the house": "das haus geputzt",
    "watched a film": "einen film gesehen",
    "wrote a letter": "einen brief geschrieben",
    "repaired the bicycle": "das fahrrad repariert",
    "baked a cake": "einen kuchen gebacken",
    "painted the fence": "den zaun gestrichen",
    "washed the car": "das auto gewaschen",
    "played the piano": "klavier gespielt",
    "listened to music": "musik gehört",
    "learned some spanish": "etwas spanisch gelernt",
    "planted flowers": "blumen gepflanzt",
    "visited a friend": "einen freund besucht",
    "lost my wallet": "meine brieftasche verloren",
}
TIMES_AGO = {
    "yesterday": "gestern",
    "this morning": "heute morgen",
    "last night": "gestern abend",
    "on the weekend": "am wochenende",
    "last week": "letzte woche",
    "this afternoon": "heute nachmittag",
}
PLACES = {  # English: (German for going to it, German for being at it)
    "station": ("zum bahnhof", "am bahnhof"),
    "airport": ("zum flughafen", "am flughafen"),
    "market": ("zum markt", "am markt"),
    "school": ("zur schule", "in der schule"),
    "hospital": ("zum krankenhaus", "im krankenhaus"),
    "library": ("zur bibliothek", "in der bibliothek"),
    "museum": ("zum museum", "im museum"),
    "bakery": ("zur bäckerei", "in der bäckerei"),
    "park": ("zum park", "im park"),
    "harbour": ("zum hafen", "am hafen"),
    "theatre": ("zum theater", "im theater"),
    "pharmacy": ("zur apotheke", "in der apotheke"),
    "restaurant": ("zum restaurant", "im restaurant"),
    "hotel": ("zum hotel", "im hotel"),
    "office": ("zum büro", "im büro"),
    "bank": ("zur bank", "in der bank"),
    "post office": ("zur post", "in der post"),
    "university": ("zur universität", "in der universität"),
    "church": ("zur kirche", "in der kirche"),
    "stadium": ("zum stadion", "im stadion"),
    "garage": ("zur werkstatt", "in der werkstatt"),
    "cinema": ("zum kino", "im kino"),
    "bridge": ("zur brücke", "an der brücke"),
    "castle": ("zum schloss", "am schloss"),
}
ROOMS = {
    "kitchen": "in der küche",
    "bedroom": "im schlafzimmer",
    "garden": "im garten",
    "hallway": "im flur",
    "bathroom": "im bad",
    "living room": "im wohnzimmer",
    "cellar": "im keller",
    "car": "im auto",
    "attic": "auf dem dachboden",
}
SIDES = {"left": "links", "right": "rechts"}
ORDINALS = _pairs(
    "first ersten, second zweiten, third dritten, fourth vierten, fifth fünften, sixth sechsten, "
    "seventh siebten, eighth achten, ninth neunten, tenth zehnten, eleventh elften, twelfth zwölften"
)

_ENGLISH_UNITS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_GERMAN_UNITS = _words(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn"
)
_ENGLISH_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_GERMAN_TENS = _words("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")


def number(value: int) -> tuple[str, str]:
    """English and German words of a number from 0 to 99."""
    if not 0 <= value <= 99:
        raise ValueError(f"{value} has no words here; numbers go from 0 to 99.")
    if value < 20:
        return _ENGLISH_UNITS[value], _GERMAN_UNITS[value]
    tens, unit = divmod(value, 10)
    english, german = _ENGLISH_TENS[tens - 2], _GERMAN_TENS[tens - 2]
    if unit == 0:
        return english, german
    before = "ein" if unit == 1 else _GERMAN_UNITS[unit]
    return f"{english} {_ENGLISH_UNITS[unit]}", f"{before}und{german}"


def clock_time(hour: int, form: int) -> tuple[str, str]:
    """A time of day in words; ``hour`` is 1 to 12, ``form`` 0 to 5 (full, half, quarters, ten past, twenty to)."""
    this, german_this = number(hour)
    following, german_following = number(hour % 12 + 1)
    return (
        (f"{this} o'clock", f"{'ein' if hour == 1 else german_this} uhr"),
        (f"half past {this}", f"halb {german_following}"),
        (f"quarter past {this}", f"viertel nach {german_this}"),
        (f"quarter to {following}", f"viertel vor {german_following}"),
        (f"ten past {this}", f"zehn nach {german_this}"),
        (f"twenty to {following}", f"zwanzig vor {german_following}"),
    )[form]
