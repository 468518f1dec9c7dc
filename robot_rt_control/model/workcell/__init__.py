"""The workcell file: what it says, checked, and the parts that it describes."""
