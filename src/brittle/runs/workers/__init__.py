"""A run in several processes: a driver deals cases to workers, which send back finished rows.

| file | its job |
|---|---|
| messages | what driver and worker say to each other |
| setup | what a worker is given at its start, and the replica of the target that it opens |
| carrying | the files of a model, sent to machines that do not have them |
| dealing | which case goes to whom, also after a worker has died |
| driver | receives rows, answers requests, keeps what is global: limits, a costly target, a stop |
| group | what a driver needs of the place where its workers live |
| session | a worker: an engine that pulls cases from the driver |
| local, actors | where workers live: processes of this machine, or actors of a Ray cluster |
"""
