"""An object store that speaks S3: moto's buckets behind a guard that knows every credential."""
