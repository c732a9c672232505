"""ROAR and Recursive ROAR: mask what a method ranks first, retrain, measure."""
