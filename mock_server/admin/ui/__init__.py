"""A page to look at a running mock: what it holds, what is asked, what goes wrong on purpose."""
