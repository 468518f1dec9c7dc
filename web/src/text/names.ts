import { later } from '../language/language.ts';

/** What nodes, programs, skills and parameters can be called. */
export const NAME = /^[A-Za-z_]\w*$/;
export const BAD_NAME = later('A name has letters, digits and _, and begins with a letter.');
