"""The structured allocator: which devices a pod's claims get on a node, and if none, why not.

Pure: no clock, no I/O, no randomness. The way in:

- ``profiles.allocator_profile(version, gates, quirks)``: what one Kubernetes version's allocator does.
- ``inventory.Inventory.of(slices, classes, profile, expressions)``, then ``with_slice`` / ``without_slice`` /
  ``with_class`` / ``without_class``: slices and classes, prepared once.
- ``state.AllocatedState.of(allocations, profile.features)``, then ``with_allocation`` / ``without_allocation``.
- ``allocate.allocate(inventory, state, node, claims)`` or ``allocate.Attempt(inventory, state, claims).on(node)``:
  an ``outcome.Outcome``.
"""
