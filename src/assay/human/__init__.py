"""Human studies: what participants are shown, which tasks each gets, and what their answers say."""
