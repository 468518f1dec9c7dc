"""The words by which people stop a robot. A text that has one of them stops, whatever else it says."""

from __future__ import annotations

import re
import unicodedata
from types import MappingProxyType

STOP_WORDS = MappingProxyType({
    "English": "stop, halt, freeze, whoa",
    "German": "stopp, anhalten, aufhören, nothalt, notaus, not aus, stehenbleiben, stehen bleiben, bleib stehen",
    "French": "arrête, arrêtez, arrêter, arrêt, halte",
    "Spanish": "alto, pare, paren, parad, párate, detente, detén, detener, deténgase, basta",
    "Italian": "ferma, fermo, fermati, fermate, fermatevi, fermare, alt, arresta, arresto",
    "Portuguese": "parem, parar, pare já, detenha",
    "Dutch": "stoppen, ophouden, hou op, houd op",
    "Danish, Norwegian, Swedish": "stands, stans, stanna, stoppa, holdt",
    "Polish": "stój, zatrzymaj, zatrzymać, przestań",
    "Czech": "stůj, zastav, zastavte, zastavit",
    "Hungarian": "állj, megállj, megállni",
    "Romanian": "oprește, opriți, oprește-te",
    "Finnish": "pysähdy, pysäytä, seis nyt",
    "Turkish": "dur, durun, durdur",
    "Greek": "στοπ, σταμάτα, σταματήστε",
    "Russian": "стоп, стой, стойте, остановись, остановитесь, остановить",
    "Ukrainian": "стій, стійте, зупинись, зупинити",
    "Arabic": "قف, توقف, أوقف",
})  # fmt: skip
"""Language → words that stop wherever they are; several words stop in this order. Case and accents do not count."""

EDGE_WORDS = MappingProxyType({"Spanish, Portuguese": "para"})
"""Words with another, frequent meaning ("for"): they stop as the first or the last word."""

STOP_SIGNS = MappingProxyType({
    "Chinese": "停, 住手, 别动, 別動",
    "Japanese": "止まれ, 止まって, 止めて, 止めろ, とまれ, とまって, やめて, やめろ, ストップ",
    "Korean": "멈춰, 멈추, 정지, 스톱, 그만",
    "Hindi": "रुको, रुकिए, रोको, स्टॉप",
})  # fmt: skip
"""Stop words of languages without spaces, or whose words these rules do not find: they also stop inside words."""

_WORD = re.compile(r"[^\W\d_]+")
_DRAWN_OUT = re.compile(r"(.)\1{2,}")


def _plain(text: str) -> str:
    """Without case and accents; "stooop" is "stop"."""
    split = unicodedata.normalize("NFKD", text.casefold())
    return _DRAWN_OUT.sub(r"\1", "".join(sign for sign in split if unicodedata.category(sign) != "Mn"))


def _signs(text: str) -> str:
    return unicodedata.normalize("NFKC", text.casefold())


def _entries(table: MappingProxyType[str, str]) -> list[str]:
    return [entry.strip() for entries in table.values() for entry in entries.split(",")]


_ROWS = {tuple(_WORD.findall(_plain(entry))): entry for entry in _entries(STOP_WORDS)}
_LONGEST = max(map(len, _ROWS))
_EDGES = {_plain(entry): entry for entry in _entries(EDGE_WORDS)}
_SIGNS = [_signs(entry) for entry in _entries(STOP_SIGNS)]


def stop_word_in(text: str) -> str:
    """The first word of a text by which it stops; empty: it does not stop. Takes time linear in the text's length."""
    words = _WORD.findall(_plain(text))
    for first in range(len(words)):
        for count in range(1, min(_LONGEST, len(words) - first) + 1):
            found = _ROWS.get(tuple(words[first : first + count]))
            if found is not None:
                return found
    for word in (*words[:1], *words[-1:]):
        if word in _EDGES:
            return _EDGES[word]
    plain = _signs(text)
    return next((sign for sign in _SIGNS if sign in plain), "")
