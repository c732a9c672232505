"""Simulability: do explanations help a student to predict what a teacher says?"""
