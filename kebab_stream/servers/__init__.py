"""Servers that run models: what they are called, how they are reached, and what can be wrong with them."""
