"""What is known of English words; nothing here proposes a candidate."""
