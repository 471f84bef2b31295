"""Adapters: the only code that knows boto3, the file system, or a model's runtime."""
