"""What the control server is built on: the attachment to an executor, and the core around it."""
