"""What RViz shows of a cell beside its robots, as plain data: goals, paths, forces, rays, limits. It knows no ROS."""
