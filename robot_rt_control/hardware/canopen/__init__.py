"""The plugin `canopen`: servo drives with the profile CiA 402 on a CAN bus. docs/canopen.md is its manual."""
