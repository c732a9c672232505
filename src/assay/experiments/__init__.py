"""Jobs, their records in a store, and the engines that run them."""
