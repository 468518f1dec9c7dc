// The texts of the page and their translations belong together.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import {
    isBinaryExpression,
    isCallExpression,
    isConditionalExpression,
    isIdentifier,
    isJsxAttribute,
    isJsxElement,
    isJsxExpression,
    isJsxFragment,
    isJsxText,
    isNoSubstitutionTemplateLiteral,
    isParenthesizedExpression,
    isPropertyAccessExpression,
    isStringLiteral,
    isTemplateExpression,
    type Node,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

import de from '../src/language/de.json';
import ja from '../src/language/ja.json';
import { pieces, t, takeTexts } from '../src/language/language.ts';
import zh from '../src/language/zh.json';
import kinds from './node_kinds.json';

const LANGUAGES: Record<string, Record<string, string>> = { de, zh, ja };
/** Attributes that people see or hear. */
const SEEN = /^(title|aria-label|aria-valuetext|ariaLabel|placeholder|label|hint|remark|alt)$/;
/** What is the same in each language: examples of names and conditions, and the chooser of the language. */
const SAME = new Set([
    'STOP',
    'Language, Sprache, 语言, 言語',
    'battery.level',
    'greet_by_handshake',
    'is_done',
    'joint[0]',
    'touch_and_hold',
    'welcome',
    'wrist.force.z',
    'wrist.force.z > 5',
]);
const WEB = process.cwd();

interface Found {
    keys: Set<string>;
    /** What is shown without `t`. */
    bare: string[];
    /** Keys that are put together when they are used. */
    built: string[];
}

/** The file that is read. */
let source = '';

/** The texts that an expression may be; `other` gets each part of it that is none. */
function textsOf(node: Node, other: (node: Node) => void = () => {}): string[] {
    const both = (...nodes: Node[]): string[] => nodes.flatMap((each) => textsOf(each, other));
    if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return [node.text];
    if (isParenthesizedExpression(node)) return both(node.expression);
    if (isConditionalExpression(node)) return both(node.whenTrue, node.whenFalse);
    if (isBinaryExpression(node)) {
        const sign = source.slice(node.left.end, node.right.pos).trim();
        const [left, right] = [both(node.left), both(node.right)];
        if (sign !== '+') return ['&&', '||', '??'].includes(sign) ? [...left, ...right] : [];
        return left.length === 1 && right.length === 1 ? [`${left[0]}${right[0]}`] : [...left, ...right];
    }
    other(node);
    return [];
}

/** Whether a text has words. */
function hasWords(text: string): boolean {
    return /\p{L}{2}/u.test(text.replace(/\{\w+\}/g, '')) && !SAME.has(text.trim());
}

function readSources(): Found {
    const api = new API({ cwd: WEB });
    const config = join(WEB, 'tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    assert(project);
    const found: Found = { keys: new Set(), bare: [], built: [] };
    const files = project.program.getSourceFileNames().filter((name) => name.startsWith(join(WEB, 'src')));
    assert(files.length > 100);
    for (const name of files) {
        const file = project.program.getSourceFile(name);
        assert(file);
        source = file.text;
        const where = (node: Node, text: string): string =>
            `${name.slice(WEB.length + 5)}:${source.slice(0, node.end).split('\n').length} ${text}`;
        const visit = (node: Node): void => {
            const bare = (shown: Node): void => {
                const words = textsOf(shown, (part) => {
                    if (!isTemplateExpression(part)) return;
                    const texts = [part.head.text, ...part.templateSpans.map((span) => span.literal.text)];
                    if (texts.some(hasWords)) found.bare.push(where(part, texts.join('…')));
                });
                for (const text of words) if (hasWords(text)) found.bare.push(where(shown, text));
            };
            if (isCallExpression(node)) {
                const [first] = node.arguments;
                const { expression } = node;
                if (isIdentifier(expression) && ['t', 'later', 'pieces'].includes(expression.text) && first) {
                    for (const text of textsOf(first)) if (text !== '') found.keys.add(text);
                    if (isTemplateExpression(first)) found.built.push(where(first, 'a template as a key'));
                }
                if (isPropertyAccessExpression(expression) && ['say', 'confirm'].includes(expression.name.text))
                    for (const each of node.arguments) bare(each);
            }
            if (isJsxText(node) && hasWords(node.text)) found.bare.push(where(node, node.text.trim()));
            if (
                isJsxAttribute(node) &&
                node.initializer &&
                SEEN.test(source.slice(node.name.pos, node.name.end).trim())
            ) {
                const value = isJsxExpression(node.initializer) ? node.initializer.expression : node.initializer;
                if (value) bare(value);
            }
            if (isJsxElement(node) || isJsxFragment(node))
                for (const child of node.children)
                    if (isJsxExpression(child) && child.expression) bare(child.expression);
            node.forEachChild((child) => visit(child));
        };
        visit(file);
    }
    api.close();
    for (const kind of kinds)
        for (const text of [
            kind.name.replace('_', ' '),
            kind.doc,
            ...kind.fields.flatMap((each) => [each.label, each.hint]),
        ])
            if (text !== '') found.keys.add(text);
    return found;
}

const sources = readSources();

function placeholders(text: string): string[] {
    return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''))].sort();
}

test('E29 nothing with words is shown without its translation', () => {
    assert.deepEqual(sources.bare, []);
    assert.deepEqual(sources.built, []);
});

for (const [language, texts] of Object.entries(LANGUAGES)) {
    test(`E29 ${language}: each text of the page has its translation, and no other one has`, () => {
        const missing = [...sources.keys].filter((key) => !(key in texts));
        assert.deepEqual(missing, []);
        assert.deepEqual(
            Object.keys(texts).filter((key) => !sources.keys.has(key)),
            [],
        );
        assert.deepEqual(
            Object.entries(texts).filter(([, text]) => text.trim() === ''),
            [],
        );
    });

    test(`E29 ${language}: a translation has the same values`, () => {
        const wrong = Object.entries(texts).filter(([key, text]) => {
            const forms = text.split('|');
            const all = placeholders(key);
            const isForm = (form: string): boolean => placeholders(form).every((name) => all.includes(name));
            const isWhole = placeholders(forms.at(-1) ?? '').join() === all.join();
            return forms.length > key.split('|').length || !forms.every(isForm) || !isWhole;
        });
        assert.deepEqual(wrong, []);
    });
}

test('E29 a text without a translation stays English, with its values', () => {
    takeTexts({
        'Open {name}': '{name} öffnen',
        '{n} node|{n} nodes': '{n} Knoten',
        '{n} page|{n} pages': '{n} Seite|{n} Seiten',
    });
    assert.equal(t('Open {name}', { name: 'a' }), 'a öffnen');
    assert.equal(t('Close {name}', { name: '{name}' }), 'Close {name}');
    assert.deepEqual(
        [1, 2, 0].map((n) => t('{n} page|{n} pages', { n })),
        ['1 Seite', '2 Seiten', '0 Seiten'],
    );
    assert.deepEqual(
        [1, 2].map((n) => t('{n} node|{n} nodes', { n })),
        ['1 Knoten', '2 Knoten'],
    );
    assert.deepEqual(pieces('Open {name}', { name: 7 }), ['', 7, ' öffnen']);
    takeTexts({});
    assert.deepEqual(
        [1, 2].map((n) => t('{n} node|{n} nodes', { n })),
        ['1 node', '2 nodes'],
    );
});
