"""Methods that search for the order of units that maximises a faithfulness metric."""
