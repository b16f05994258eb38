"""The companion without a language model: it quotes and claims nothing."""
