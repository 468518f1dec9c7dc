import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inWords, skillOf, wayOf } from '../src/way.ts';
import type { LogRecord } from '../src/wire.ts';

function record(what: string, more: Record<string, unknown> = {}): LogRecord {
    return { what, time: 0, tick: 0, ...more } as LogRecord;
}

test('the only node of a skill that is one call has the name of the skill', () => {
    const records = [
        record('run', { skill: 'lift' }),
        record('ended', { path: 'only', result: 'done' }),
        record('progress', { path: 'only', text: 'half way' }),
    ];
    assert.equal(skillOf(records), 'lift');
    assert.deepEqual(
        records.slice(1).map((each) => inWords(each, skillOf(records))),
        ['lift: done', 'lift: half way'],
    );
    assert.equal(inWords(record('ended', { path: 'a', result: 'done' }), 'lift'), 'a: done');
    assert.equal(skillOf([]), '');
});

test('E17 of two results that lead to one node, the link that was taken is lit, and no other one', () => {
    const node = (path: string): LogRecord => record('node', { path, visit: 1, attempt: 1 });
    const decided = (path: string, candidate: number, more: object): LogRecord =>
        record('decided', {
            path,
            judged: [
                { candidate: 0, held: candidate === 0, values: {} },
                { candidate, held: true, values: {} },
            ],
            ...more,
        });
    const way = wayOf(
        [
            node('look'),
            record('ended', { path: 'look', result: 'lost' }),
            decided('look', 1, { go: 'tell' }),
            node('tell'),
            decided('tell', 0, { end: 'done' }),
        ],
        '',
    );
    assert.deepEqual([...way.links], ['look:1:tell', 'tell:0:@done']);
    // A jump or a reaction between takes no link; neither does an end that no candidate leads to.
    assert.deepEqual(
        [
            ...wayOf(
                [
                    node('a'),
                    decided('a', 0, { go: 'b' }),
                    record('jump', { path: 'c' }),
                    node('c'),
                    record('decided', { path: 'c', judged: [], end: 'failed' }),
                ],
                '',
            ).links,
        ],
        [],
    );
});

test('N51 a refused start is no end of a run', () => {
    assert.equal(
        inWords(record('end', { result: 'failed', reason: 'no such part', refused: true })),
        'the run was refused: no such part',
    );
});
