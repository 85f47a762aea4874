"""The recipe of the bundled embedding model, from public texts to a model folder; see README.md beside this file."""
