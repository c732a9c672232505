"""Methods that search for the order of units that a faithfulness metric likes best."""
