"""Knowledge about English words; nothing here proposes a candidate."""
