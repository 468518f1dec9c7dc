"""What a browser draws of a workcell: its robots' links, joints and shapes, and the triangles of their meshes."""
