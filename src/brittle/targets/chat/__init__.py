"""Chat models behind an OpenAI-compatible address as targets.

Doors: `target` opens one. `request` is what is sent, `answers` what comes back.
"""
