"""How do requests reach a device, and how do their records come back? One job at a time on each device."""
