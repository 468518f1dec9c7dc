import assert from 'node:assert/strict';
import { test } from 'node:test';

import './kinds.ts';
import { readGraph } from '../src/text/graph.ts';
import { edit, keptOf, redo, resume, undo } from '../src/text/history.ts';
import { identifierOf, NAME, titleOf } from '../src/text/names.ts';
import { nameAnswers, nameNode, nameSkill, namesFor, shownAnswers, shownNode } from '../src/text/shown_names.ts';
import { inWords, namesIn } from '../src/way.ts';
import type { LogRecord } from '../src/wire.ts';

const TEXT = `name: pick
nodes:
  pick: {wait: 1, then: question}   # as it was
  question:
    ask: {text: Again?, answers: [again, enough]}
    then: [{on: again, go: pick}, {on: enough, end: done}]
`;

test('an identifier is made from whatever is typed', () => {
    const made = (typed: string, taken: string[] = [], before = ''): string =>
        identifierOf(typed, new Set(taken), 'node', before);
    assert.equal(made('try again'), 'try_again');
    assert.equal(made('Prüfen'), 'Pruefen');
    assert.equal(made('café — naïve'), 'cafe_naive');
    assert.equal(made('2. Versuch'), '_2_Versuch');
    assert.equal(made('try again', ['try_again', 'try_again_2']), 'try_again_3');
    assert.equal(made('拾取'), 'node_1');
    assert.equal(made('拾取', ['node_1']), 'node_2');
    assert.equal(made('拾取', ['node_1'], 'node_1'), 'node_1');
    assert.equal(made('as_it_is'), 'as_it_is');
    for (const typed of ['{', '[]', '"', "'", ': x', '#', '\u202e', '🤖', 'a'.repeat(300), '--', '\n'])
        assert.match(made(typed), NAME);
    assert.equal(titleOf(' a\n\tb\u202ec '), 'a b c');
});

test('N56 a node, the skill and answers have names for people, and links follow their identifiers', () => {
    let text = nameNode(TEXT, 'pick', '拾取');
    assert.match(text, /^ {2}node_1: \{title: 拾取, wait: 1, then: question\} {3}# as it was$/m);
    assert.match(text, /on: again, go: node_1/);
    assert.equal(shownNode(readGraph(text), 'node_1'), '拾取');
    text = nameNode(text, 'node_1', '再拾取');
    assert.match(text, /^ {2}node_1: \{title: 再拾取,/m);
    text = nameNode(text, 'question', 'Try again?');
    assert.match(text, /^ {2}Try_again:\n {4}title: Try again\?\n {4}ask:/m);
    assert.match(text, /then: Try_again\}/);
    assert.equal(nameNode(nameNode(text, 'node_1', 'pick'), 'Try_again', 'question'), TEXT);
    text = nameSkill(TEXT, 'Würfel holen');
    assert.match(text, /^name: Wuerfel_holen\ntitle: Würfel holen\nnodes:/);
    assert.equal(nameSkill(text, 'pick'), TEXT);
    assert.deepEqual(namesFor(readGraph(TEXT), 'pick', 'question!'), { id: 'question_2', title: 'question!' });
});

test('answers are typed as people read them', () => {
    const node = ['nodes', 'question'];
    let text = nameAnswers(TEXT, node, 'try again, enough');
    assert.match(text, /answers: \[try_again, enough\], titles: \{try_again: try again\}/);
    assert.match(text, /on: try_again, go: pick/);
    text = nameAnswers(text, node, '重试, enough');
    assert.match(text, /answers: \[answer_1, enough\], titles: \{answer_1: 重试\}/);
    text = nameAnswers(text, node, '再试, enough, 其他');
    assert.match(text, /answers: \[answer_1, enough, answer_2\], titles: \{answer_1: 再试, answer_2: 其他\}/);
    const content = readGraph(text).nodes[1]?.content ?? {};
    assert.equal(shownAnswers(content, ['answer_1', 'enough', 'answer_2']), '再试, enough, 其他');
    assert.equal(nameAnswers(text, node, 'again, enough').includes('titles'), false);
    assert.equal(nameAnswers(TEXT, node, 'again, enough'), TEXT);
    // Moved is not renamed, and a moved one beside a renamed one neither.
    text = nameAnswers(TEXT, node, 'enough, again');
    assert.match(text, /answers: \[enough, again\]/);
    assert.match(text, /on: again, go: pick\}, \{on: enough, end: done/);
    text = nameAnswers(text, node, 'enough, once more');
    assert.match(text, /on: once_more, go: pick\}, \{on: enough, end: done/);
    text = nameAnswers(text, node, 'once more, never');
    assert.match(text, /on: once_more, go: pick\}, \{on: enough, end: done/, 'which one was renamed, nobody knows');
    // Letter by letter, as it is typed.
    text = TEXT;
    for (const typed of ['agai, enough', 'aga, enough', 'ag, enough', 'a, enough', 'a b, enough'])
        text = nameAnswers(text, node, typed);
    assert.match(text, /on: a_b, go: pick/);
});

test('E1 edits can be undone after a reload, as far as they fit the text', () => {
    let history = { text: 'a', past: [], future: [] } as ReturnType<typeof resume>;
    for (const text of ['ab', 'abc', 'xabc']) history = edit(history, text);
    history = undo(history);
    const { past, future } = JSON.parse(JSON.stringify(keptOf(history))) as { past: unknown; future: unknown };
    const again = resume('abc', past, future);
    assert.deepEqual([undo(undo(again)).text, redo(again).text], ['a', 'xabc']);
    assert.deepEqual(resume('other', past, future).past, []);
    assert.deepEqual(resume('abc', [{ at: 'x' }, 7, null], 'no').past, []);
    let long = { text: '', past: [], future: [] } as ReturnType<typeof resume>;
    for (let n = 0; n < 10; n += 1) long = edit(long, `${n}`.repeat(30_000));
    const kept = keptOf(long);
    assert.ok(kept.past.length > 1 && kept.past.length < 10);
    assert.equal(undo(resume(long.text, kept.past, kept.future)).text, '8'.repeat(30_000));
});

test('the log says names, what was said, the attempt and the values that decided', () => {
    const record = (what: string, more: object): LogRecord => ({ tick: 1, time: 1, what, ...more }) as LogRecord;
    const records = [
        record('node', { path: 'node_1', visit: 1, attempt: 2, title: '拾取' }),
        record('node', { path: 'help', visit: 1, attempt: 1, title: 'Try again?' }),
        record('question', {
            path: 'help',
            text: 'Again?',
            answers: ['try_again'],
            titles: { try_again: 'try again' },
        }),
        record('start', { path: 'bye', skill: 'say', arguments: { text: 'Goodbye' } }),
        record('ended', { path: 'help', result: 'try_again' }),
        record('decided', {
            path: 'help',
            go: 'node_1',
            judged: [
                { candidate: 0, held: false, values: { 'below.distance': 0.123456 } },
                { candidate: 1, held: true, values: { 'below.distance': 0.123456, x: null } },
            ],
        }),
    ];
    const names = namesIn(records);
    assert.deepEqual(
        records.map((each) => inWords(each, '', names)),
        [
            '拾取 begins, attempt 2',
            'Try again? begins',
            'Try again? asks: Again?',
            'bye says: “Goodbye”',
            'Try again?: try again',
            'Try again? → 拾取 (below.distance = 0.1235, x = unknown)',
        ],
    );
});
