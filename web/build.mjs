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
/** Of the page that shows the workcell alone, or a recording, beside what draws it. */
const LARGEST_VIEW_PAGE = 280_000;
/** Of what it loads when somebody looks back, or operates. */
const LARGEST_LATER = 50_000;

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
for (const [source, name, format] of [
    ['main.tsx', 'editor.js', 'iife'],
    ['scene/view.ts', 'view.js', 'esm'],
    ['scene/three.ts', 'three.js', 'esm'],
    ['timeline/timeline.ts', 'timeline.js', 'esm'],
]) {
    const files = { entryPoints: [join(here, 'src', source)], outfile: join(out, name), format };
    results.push(await build({ ...common, ...files, plugins: [apart] }));
}
// The pages of the workcell and of a recording, what they have in common, and what the first one loads later.
for (const name of readdirSync(out)) if (/^part-.*\.(js|css)$/.test(name)) rmSync(join(out, name));
const pages = { entryPoints: ['view_page.tsx', 'past_page.tsx'].map((name) => join(here, 'src', name)), outdir: out };
const split = { format: 'esm', splitting: true, chunkNames: 'part-[hash]' };
const alone = await build({ ...common, ...pages, ...split, plugins: [apart] });
results.push(alone);

/** Names of a file of these pages and of those that it loads with it. */
function withImports(name) {
    const found = new Set([name]);
    for (const each of found)
        for (const { kind, path, external } of alone.metafile.outputs[relative(here, join(out, each))].imports)
            if (kind === 'import-statement' && !external) found.add(relative(out, join(here, path)));
    return [...found];
}

for (const name of ['de', 'zh', 'ja']) {
    const texts = JSON.parse(readFileSync(join(here, 'src', 'language', `${name}.json`), 'utf8'));
    writeFileSync(join(out, `language_${name}.json`), JSON.stringify(texts));
}
for (const name of ['index.html', 'icon.svg']) writeFileSync(join(out, name), readFileSync(join(here, 'src', name)));
for (const name of ['view', 'past']) {
    const [, ...parts] = withImports(`${name}_page.js`);
    const links = parts.map((part) => `<link rel="modulepreload" href="${part}">`).join('\n');
    const text = readFileSync(join(here, 'src', `${name}.html`), 'utf8');
    writeFileSync(join(out, `${name}.html`), text.replace('<!-- parts -->', links));
}

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
const pageSizes = ['view_page.js', 'past_page.js'].map((name) => sizeOf(...withImports(name)));
const atFirst = withImports('view_page.js');
const scripts = Object.keys(alone.metafile.outputs).filter((path) => path.endsWith('.js'));
const later = scripts.map((path) => relative(out, join(here, path))).filter((name) => !atFirst.includes(name));
const laterSize = sizeOf(...later.filter((name) => name !== 'past_page.js'));
if (laterSize > LARGEST_LATER)
    throw new Error(`what is loaded later has ${laterSize} bytes, more than ${LARGEST_LATER}`);
const pageSize = Math.max(...pageSizes);
if (pageSize > LARGEST_VIEW_PAGE) throw new Error(`a page has ${pageSize} bytes, more than ${LARGEST_VIEW_PAGE}`);
if (viewSize > LARGEST_VIEW) throw new Error(`the view has ${viewSize} bytes, more than ${LARGEST_VIEW}`);
const timelineSize = sizeOf('timeline.js');
if (timelineSize > LARGEST_TIMELINE) throw new Error(`timeline.js has ${timelineSize} bytes, > ${LARGEST_TIMELINE}`);
writeFileSync(join(out, 'sources.sha256'), `${digest()}\n`);
console.log(
    `${packages.size} packages, ${size} bytes; of the view ${pageSize} and ${viewSize}, ` +
        `timeline ${timelineSize}, later ${laterSize}`,
);
