"""Sanity studies: does an explanation depend on what it claims to explain?"""
