"""The DynamicResources plugin: one module per concern, `plugin` ties them to the extension points."""
