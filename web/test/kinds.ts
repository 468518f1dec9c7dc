// In each test, the table of node kinds is as the editor's server sends it; test_wire.py holds it equal to Python's.

import { takeKinds } from '../src/text/node_kinds.ts';
import kinds from './node_kinds.json';

takeKinds(kinds);
