"""CPU seconds of a new process until an attack on given candidates is built, and WordNet is open.

python benchmarks/startup.py candidates.json
"""

import time

BEGAN = time.process_time()

import json  # noqa: E402
import sys  # noqa: E402

import brittle.runs.runner  # noqa: E402, F401
from brittle import attacks  # noqa: E402

attacks.build("pwws", {"candidates": sys.argv[1]}, attacks.RunContext(["negative", "positive"]))
BUILT = time.process_time()

from brittle.candidates.synonyms import Synonyms  # noqa: E402
from brittle.english.tags import tag_words  # noqa: E402

tag_words(["a", "good", "film"])
Synonyms().of("good", "JJ")
OPEN = time.process_time()

print(json.dumps({"seconds": BUILT - BEGAN, "wordnet_seconds": OPEN - BUILT}))
