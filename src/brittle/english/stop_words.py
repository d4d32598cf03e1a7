"""English stop words: the words that hold a sentence together and carry little meaning.

This is our own list, by word class, since no package that brittle depends on has one. Unlike many
lists it holds function words only: no nouns, no full verbs, no adjectives of quality.

Tokenised text writes a contraction in two tokens: "does n't", "they 're", "don ' t". Their
apostrophe lies in the gap before the word, so the list has them as "re", "ll", "s". "ai" of
"ai n't" is left out, since it is a noun too.
"""

from __future__ import annotations

_CLASSES = {
    "articles and determiners": """
        a an the this that these those each every either neither some any no all both half few
        many much more most several such another other others own same enough what which whose
        whatever whichever""",
    "pronouns": """
        i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
        himself she her hers herself it its itself they them their theirs themselves one oneself
        who whom whoever whomever someone somebody something anyone anybody anything everyone
        everybody everything nobody nothing none there""",
    "prepositions": """
        about above across after against along amid among amongst around as at before behind below
        beneath beside besides between beyond by despite down during except for from in inside into
        near of off on onto out outside over past per since than through throughout till to toward
        towards under until up upon via with within without""",
    "conjunctions": """
        and but or nor so yet if unless because although though while whereas whether lest once""",
    "auxiliary verbs": """
        be am is are was were been being have has had having do does did doing done can could may
        might must shall should will would ought cannot""",
    "adverbs of grammar": """
        not never again also too very just only even still already ever then thus hence here where
        when why how however therefore else rather quite almost always away back""",
    "contractions": """
        i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd
        it'll we're we've we'd we'll they're they've they'd they'll that's that'd that'll there's
        there'd there'll here's who's who'd who'll who've what's what're what'll where's when's
        why's how's let's isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't
        can't couldn't mayn't mightn't mustn't shan't shouldn't won't wouldn't needn't oughtn't
        ain't""",
    "first tokens of contractions": """
        ca wo sha isn aren wasn weren hasn hadn doesn didn couldn mightn mustn shouldn wouldn needn
        """,
}
CLITICS = frozenset({"n't", "nt", "t", "s", "re", "ve", "ll", "d", "m", "em"})
"""Tokens of contractions that cannot stand alone."""
STOP_WORDS = CLITICS.union(*(words.split() for words in _CLASSES.values()))


def is_stop_word(word: str) -> bool:
    """Tell whether a word is a stop word, whatever its case or the form of its apostrophe.

    >>> is_stop_word("The"), is_stop_word("don’t"), is_stop_word("film")
    (True, True, False)
    """
    return _plain(word) in STOP_WORDS


def is_clitic(word: str) -> bool:
    """Tell whether a word is the second token of a contraction: no candidate for another word.

    >>> is_clitic("n’t"), is_clitic("ll"), is_clitic("not")
    (True, True, False)
    """
    return _plain(word) in CLITICS


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")
