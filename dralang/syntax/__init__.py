"""`.dra` text to syntax tree. Knows no Kubernetes."""
