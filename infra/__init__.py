"""The deployment as code: one validated settings file per environment in, two stacks out."""
