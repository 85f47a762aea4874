"""Start-up, latency, ingest and memory, each beside a baseline that is measured in the same run, in turn with it.

setup.py, corpora.py, synthetic.py   what is measured with
prepare.py                           the indexes of one run
timing.py, memory_of.py, figures.py  how it is measured, and what comes of it
start_up.py … installed.py           one section of the page each
peers.py, baselines.py               what we are compared with
report.py                            the page
guard.py                             counts that must not grow, for CI
"""
