"""The structured allocator: which devices a pod's claims get on a node, and if none, why not.

Pure: no clock, no I/O, no randomness. The way in:

- ``profiles.allocator_profile(version, gates, quirks)``: what one Kubernetes version's allocator does.
- ``inventory.Inventory.of(slices, classes, profile, expressions)``, then ``with_slice`` / ``without_slice`` /
  ``with_class`` / ``without_class``: slices and classes, prepared once.
- ``state.AllocatedState.of(allocations, profile.features)``, then ``with_allocation`` / ``without_allocation``.
- ``allocate.allocate(inventory, state, node, claims)`` or ``allocate.Attempt(inventory, state, claims).on(node)``:
  an ``outcome.Outcome``.
- ``explain.explain(inventory, state, node, claims)``: an ``explanation.Explanation``, and ``render.render_explanation``
  for its text.
- ``replay.replay_allocation(case, expressions)``: a recorded case answered again.

How an attempt goes: ``pools`` gathers what a node sees, ``requests`` binds the claims to it, ``search`` chooses
devices, trying each with ``attempt_state``, and ``results`` writes the choice down. ``symmetry``, ``bounds`` and
``hazards`` tell the search what it need not try. Versions and known faults are data, in ``profiles`` and ``quirks``.
"""
