"""Exchange with tools that read behavior trees: XML of BehaviorTree.CPP, version 4. Our own format stays the master."""
