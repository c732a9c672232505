"""Randomise: do explanations change when blocks of the model are re-initialised?"""
