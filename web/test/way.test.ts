import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { LogRecord } from '../src/server.ts';
import { inWords, skillOf } from '../src/way.ts';

function record(what: string, more: Record<string, unknown> = {}): LogRecord {
    return { what, time: 0, tick: 0, ...more } as LogRecord;
}

test('the only node of a skill that is one call has the name of the skill', () => {
    const records = [record('run', { skill: 'lift' }), record('ended', { path: 'only', result: 'done' }), record('progress', { path: 'only', text: 'half way' })];
    assert.equal(skillOf(records), 'lift');
    assert.deepEqual(records.slice(1).map((each) => inWords(each, skillOf(records))), ['lift: done', 'lift: half way']);
    assert.equal(inWords(record('ended', { path: 'a', result: 'done' }), 'lift'), 'a: done');
    assert.equal(skillOf([]), '');
});
