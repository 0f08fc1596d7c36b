"""Small building blocks without knowledge of jobs, graphs or clusters; any package may use them.

- `arrays`: the names of the numpy array types (the only module here that needs numpy)
- `backoff`: retry delays for a server that does not answer, and throttled messages about it
- `certificates`: makes certificate authorities, and the certificates that they sign
- `file_lock`: locks on files, for processes on one machine
- `yaml_text`: decodes YAML files of settings, with limits
- `reasons`: why a job waits or ended, as data with a stable code, and its text
- `texts`: texts that cannot be stored, and their replacement

The modules do not import each other, but `reasons` uses `texts`, and nothing here imports another
package of ours. Those that need an event loop or a library (`backoff`, `certificates`, `yaml_text`)
are imported one by one, so this package imports none of them: the core stays free of both.
"""
