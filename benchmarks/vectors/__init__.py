"""`make bench-vectors`: the vector engine beside the shards, over the same memories."""
