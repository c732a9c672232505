"""Attack: can an explanation be changed while the prediction stays the same?"""
