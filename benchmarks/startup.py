"""Time, in a new process, until an attack on given candidates is built, then until WordNet is open.

python benchmarks/startup.py candidates.json
"""

import time

BEGAN = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402

import brittle.runs.runner  # noqa: E402, F401
from brittle import attacks  # noqa: E402

attacks.build("pwws", {"candidates": sys.argv[1]}, attacks.RunContext(["negative", "positive"]))
BUILT = time.perf_counter()

from brittle.candidates.synonyms import Synonyms  # noqa: E402
from brittle.english.tags import tag_words  # noqa: E402

tag_words(["a", "good", "film"])
Synonyms().of("good", "JJ")
OPEN = time.perf_counter()

print(json.dumps({"seconds": BUILT - BEGAN, "wordnet_seconds": OPEN - BUILT}))
