"""The model of kube-scheduler: queues, the scheduling cycle with its plugins, preemption and binding."""
