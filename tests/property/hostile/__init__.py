"""Texts and numbers made to break their reader: each gives a value or the error of its reader.

- `documents`: strategies for documents of every format, with extreme numbers, depth and repetition
- `test_graphs`: graphs of all formats, and what the matcher answers on those that can be read
- `test_settings`: traces, configurations and kubeconfigs
- `test_options`: numbers on command lines
"""
