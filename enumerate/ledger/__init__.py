"""What is written and recorded: names, parts, records, the summary; `storage` below it."""
