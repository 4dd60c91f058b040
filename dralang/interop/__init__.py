"""To and from YAML: API objects written as declarations, and declarations written as manifests."""
