CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE examples (
  number INTEGER PRIMARY KEY, case_id TEXT NOT NULL UNIQUE, fields TEXT NOT NULL, label TEXT);
CREATE TABLE results (
  case_id TEXT PRIMARY KEY, attack TEXT, target TEXT, goal TEXT, status TEXT NOT NULL, reason TEXT,
  edits TEXT, label TEXT, predicted TEXT, confidence REAL, adversarial_label TEXT,
  adversarial_confidence REAL, queries INTEGER NOT NULL, words INTEGER, words_changed INTEGER,
  characters_changed INTEGER, seed INTEGER, answer TEXT, adversarial_answer TEXT, cost REAL,
  pixels_changed INTEGER, l2 REAL, linf REAL, tried INTEGER, won INTEGER,
  similarity REAL, fluency REAL, proved_words INTEGER, single_swaps INTEGER,
  level TEXT, levels TEXT, random_edits INTEGER, random_won INTEGER) WITHOUT ROWID;
CREATE TABLE steps (
  case_id TEXT NOT NULL, number INTEGER NOT NULL, query INTEGER NOT NULL, loss REAL NOT NULL,
  label TEXT, confidence REAL, edits TEXT NOT NULL, answer TEXT, cost REAL,
  similarity REAL, fluency REAL, PRIMARY KEY (case_id, number)) WITHOUT ROWID;
CREATE TABLE answers (
  question TEXT NOT NULL, key BLOB NOT NULL, payload TEXT NOT NULL,
  PRIMARY KEY (question, key)) WITHOUT ROWID;
