"""The methods that can be fitted, one file each: settings, and the fit itself."""
