"""The indexer handler: turns queued S3 events into one indexing run for each tenant."""
