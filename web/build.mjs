// Builds the page into the package, with the licences of all parts and a digest of the sources.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', 'robot_rt_control', 'editor', 'page');
const ALLOWED = /^(MIT|ISC|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|0BSD)$/;
/** Of the page that is opened first; and of what it loads when somebody opens the view of the workcell. */
const LARGEST = 1_300_000;
const LARGEST_VIEW = 700_000;
const LARGEST_TIMELINE = 50_000;
/** What the page of the workcell loads at first, beside what draws it; and what moves through time. */
const LARGEST_VIEW_PAGE = 280_000;
const LARGEST_PAST = 50_000;

function files(folder) {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
    );
}

/** Of all that the bundle is made from; test/unit/editor/test_page.py computes the same. */
export function digest() {
    const sources = [
        ...files(join(here, 'src')),
        ...['package.json', 'package-lock.json', 'build.mjs', 'tsconfig.json'].map((name) => join(here, name)),
    ];
    const hash = createHash('sha256');
    for (const path of sources.sort()) {
        hash.update(`${relative(here, path).replaceAll('\\', '/')}\0`);
        hash.update(readFileSync(path));
        hash.update('\0');
    }
    return hash.digest('hex');
}

mkdirSync(out, { recursive: true });
const common = {
    absWorkingDir: here,
    bundle: true,
    minify: true,
    sourcemap: false,
    target: ['es2022'],
    legalComments: 'none',
    charset: 'utf8',
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
    logLevel: 'warning',
};

/** Files that are loaded apart: source → name in the page. */
const APART = { 'scene/view.ts': './view.js', './three.ts': './three.js', 'timeline/timeline.ts': './timeline.js' };
const apart = {
    name: 'apart',
    setup: (it) =>
        it.onResolve({ filter: /(scene\/view|\/three|timeline\/timeline)\.ts$/ }, ({ path, kind }) => {
            const found = Object.entries(APART).find(([source]) => path.endsWith(source));
            return kind === 'entry-point' || !found ? undefined : { path: found[1], external: true };
        }),
};
const results = [];
for (const name of readdirSync(out)) if (/^part-.*\.js$/.test(name)) rmSync(join(out, name));
// What this page loads later is in files that share what they have in common with it.
const split = { splitting: true, outdir: out, chunkNames: 'part-[hash]', plugins: [apart], format: 'esm' };
const alone = await build({ ...common, ...split, entryPoints: [join(here, 'src', 'view_page.tsx')] });
results.push(alone);
for (const [source, name, format] of [
    ['main.tsx', 'editor.js', 'iife'],
    ['scene/view.ts', 'view.js', 'esm'],
    ['scene/three.ts', 'three.js', 'esm'],
    ['timeline/timeline.ts', 'timeline.js', 'esm'],
]) {
    const files = { entryPoints: [join(here, 'src', source)], outfile: join(out, name), format };
    results.push(await build({ ...common, ...files, plugins: [apart] }));
}
for (const name of ['index.html', 'view.html', 'past.html', 'icon.svg'])
    writeFileSync(join(out, name), readFileSync(join(here, 'src', name)));

const packages = new Map();
for (const input of results.flatMap((result) => Object.keys(result.metafile.inputs))) {
    const match = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(input);
    if (match) packages.set(match[2], match[1]);
}
const parts = [];
for (const [name, folder] of [...packages].sort()) {
    const about = JSON.parse(readFileSync(join(here, folder, 'package.json'), 'utf8'));
    if (!ALLOWED.test(about.license)) throw new Error(`${name}: licence ${about.license}`);
    const file = readdirSync(join(here, folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? readFileSync(join(here, folder, file), 'utf8').trim() : '';
    parts.push(`${name} ${about.version}: ${about.license}\n\n${text}\n`);
}
writeFileSync(join(out, 'licences.txt'), `The page contains these parts.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`);
const sizeOf = (...names) => names.reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
const size = sizeOf('editor.js', 'editor.css');
const viewSize = sizeOf('view.js', 'three.js');
if (size > LARGEST) throw new Error(`the bundle has ${size} bytes, more than ${LARGEST}`);
/** Names of a file of this page and of those that it loads with it. */
function withImports(name) {
    const found = new Set([name]);
    for (const each of found)
        for (const it of alone.metafile.outputs[relative(here, join(out, each))].imports)
            if (it.kind === 'import-statement' && !it.external) found.add(relative(out, join(here, it.path)));
    return found;
}
const first = withImports('view_page.js');
const pageSize = sizeOf(...first);
const scripts = Object.keys(alone.metafile.outputs).filter((path) => path.endsWith('.js'));
const pastSize = sizeOf(...scripts.map((path) => relative(out, join(here, path))).filter((name) => !first.has(name)));
if (pastSize > LARGEST_PAST) throw new Error(`what moves through time has ${pastSize} bytes, > ${LARGEST_PAST}`);
if (pageSize > LARGEST_VIEW_PAGE) throw new Error(`view_page.js has ${pageSize} bytes, more than ${LARGEST_VIEW_PAGE}`);
if (viewSize > LARGEST_VIEW) throw new Error(`the view has ${viewSize} bytes, more than ${LARGEST_VIEW}`);
const timelineSize = sizeOf('timeline.js');
if (timelineSize > LARGEST_TIMELINE) throw new Error(`timeline.js has ${timelineSize} bytes, > ${LARGEST_TIMELINE}`);
writeFileSync(join(out, 'sources.sha256'), `${digest()}\n`);
console.log(
    `${packages.size} packages, ${size} bytes; of the view ${pageSize} and ${viewSize}, timeline ${timelineSize}, past ${pastSize}`,
);
