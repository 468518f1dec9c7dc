// Builds the tests and runs them with node's own runner.

import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', '.test');
rmSync(out, { recursive: true, force: true });
const files = readdirSync(here).filter((name) => name.endsWith('.test.ts'));
buildSync({
    entryPoints: files.map((name) => join(here, name)),
    bundle: true,
    platform: 'node',
    format: 'esm',
    outdir: out,
    outExtension: { '.js': '.mjs' },
    logLevel: 'warning',
    external: ['node:*', 'yaml', 'typescript/*'],
    inject: [join(here, 'kinds.ts')],
});
for (const name of files) await import(pathToFileURL(join(out, name.replace(/\.ts$/, '.mjs'))).href);
