"""S3 Vectors for tests: moto's backend with what it lacks, exactly, in-process and as a server."""
