"""Rules of the source tree that no linter knows. Import rules are contracts in pyproject.toml."""
