import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentOf, contentOfText, ranAs } from '../src/store/ran.ts';
import { readGraph } from '../src/text/graph.ts';
import type { LogRecord } from '../src/wire.ts';

function record(what: string, more: Record<string, unknown> = {}): LogRecord {
    return { what, time: 0, tick: 0, ...more } as LogRecord;
}

test('E17 the log says which version ran, of the run and of what it calls', () => {
    const records = [
        record('run', { skill: 'tour', versions: { tour: 3, press: 2 } }),
        record('call', { path: 'a', skill: 'press' }),
    ];
    assert.deepEqual(ranAs(records, 'tour'), { text: null, version: 3 });
    assert.deepEqual(ranAs(records, 'press'), { text: null, version: 2 });
    assert.deepEqual(ranAs([...records, record('call', { path: 'b', skill: 'press@1' })], 'press'), {
        text: null,
        version: 1,
    });
    assert.deepEqual(ranAs([record('run', { skill: 'tour', versions: {}, text: 'name: tour' })], 'tour'), {
        text: 'name: tour',
        version: 0,
    });
    assert.deepEqual(ranAs([record('run', { skill: 'tour' })], 'tour'), { text: null, version: 0 });
    assert.equal(ranAs([], 'tour'), null);
});

test('E17 places, comments and layout do not make another text', () => {
    const text = 'name: tour\nnodes:\n  a: {wait: 1, then: b}\n  b: {wait: 2}\n';
    assert.equal(contentOf(readGraph(`# mine\n${text}view:\n  a: [1, 2]\n`)), contentOfText(text));
    assert.notEqual(contentOfText(text.replace('wait: 2', 'wait: 3')), contentOfText(text));
});
