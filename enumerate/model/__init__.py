"""What everything else is about, and nothing about how: boards, tours, published counts, settings, jobs, errors."""
