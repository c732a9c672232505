"""Runs: jobs, their records in a store, and the engines that work through them."""
