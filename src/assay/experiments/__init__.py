"""Runs: records keyed by everything that changes their numbers, kept so that an interrupted run goes on."""
