"""The server for the application Foxglove: topics of a workcell, read only."""
