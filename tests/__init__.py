"""Tests, and the slow oracle that the fast matcher is compared with."""
