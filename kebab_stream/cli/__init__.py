"""The command line: joins options to calls. Nobody imports it."""
