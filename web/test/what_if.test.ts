// What would have come of a change, as the page shows it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { canGoBack, recordsFrom, WhatIf, type WhatIfAnswer } from '../src/past/what_if.ts';
import type { PastAbout } from '../src/past/wire.ts';
import type { LogRecord } from '../src/wire.ts';
import { page } from './page.ts';

const TEXT = 'name: tour\nnodes:\n  a: {wait: 1, then: b}\n  b: {wait: 2}\n';
const CHANGE = { run: 'r1', name: 'tour', text: TEXT, tick: 5000, doc: 1, before: null };
const RECORDS: LogRecord[] = [
    { what: 'command', tick: 12, time: 0.012, command: 'Begin' },
    { what: 'node', tick: 13, time: 0.013, path: 'a', visit: 1, attempt: 1 },
    { what: 'ended', tick: 1013, time: 1.013, path: 'a', result: 'done', outputs: {} },
];
const ANSWER = {
    success: true,
    message: '',
    number: 3,
    result: 'done',
    failure: false,
    reason: '',
    first: 13,
    last: 1013,
    records: RECORDS,
    said: [],
    notes: ['It begins at rest.'],
    about: { period: 0.001, block: 1000, first: 1, last: 1020, joints: [] } as unknown as PastAbout,
} satisfies WhatIfAnswer;

test('E34 the records of a simulation stand in the ticks of the moment from which it went on', () => {
    const found = recordsFrom(CHANGE, ANSWER);
    assert.deepEqual(
        found.map((record) => [record.what, record.tick]),
        [
            ['run', 5000],
            ['command', 5000],
            ['node', 5000],
            ['ended', 6000],
        ],
    );
    assert.equal(found[3]?.time, 6);
});

test('E34 from its moment on, the picture shows what was simulated; before it, what happened', () => {
    const { it } = page({});
    it.docs.open(TEXT);
    const whatIf = { tick: 5000, records: recordsFrom(CHANGE, ANSWER) };
    const show = (tick: number): [boolean, number | undefined] => {
        it.showPast({ tick, runs: [], seek: () => undefined, whatIf });
        return [it.runs.replay?.isWhatIf === true, it.runs.replay?.at];
    };
    assert.deepEqual(show(4999), [false, 0]);
    assert.deepEqual(show(5500), [true, 3]);
    assert.equal(it.drawn.comparedWith(it.runs.replay?.records ?? []), 'same');
    assert.deepEqual(show(6000), [true, 4]);
    it.showPast(null);
    assert.equal(it.runs.replay, null);
});

test('E34 a simulation is asked for with its loop, shown or refused in words, and put away', async () => {
    const { asked } = page({ what_if: ANSWER, what_if_end: {} });
    let changes = 0;
    const done = new WhatIf(CHANGE, () => changes++);
    await done.simulate(7);
    const id = (asked[0]?.request as { id: string } | undefined)?.id;
    assert.deepEqual(asked[0], { name: 'what_if', request: { id, run: 'r1', text: TEXT, tick: 5000, loop: 7 } });
    assert.deepEqual([changes, done.answer?.result, done.records.length, done.problem], [1, 'done', 4, '']);
    assert.deepEqual([done.ghost?.about.first, done.ghost?.about.last], [13, 1013]);
    done.end();
    assert.deepEqual(asked.at(-1), { name: 'what_if_end', request: { id } });
    const { asked: askedThen } = page({});
    const refused = new WhatIf(CHANGE, () => changes++);
    await refused.simulate(7);
    assert.deepEqual([changes, refused.answer, refused.ghost, refused.problem], [2, null, null, 'no what_if']);
    assert.notEqual((askedThen[0]?.request as { id: string } | undefined)?.id, id, 'a late end ends no other one');
    refused.end();
    assert.deepEqual(
        askedThen.map((each) => each.name),
        ['what_if'],
        'the simulation of another page goes on',
    );
});

test('E34 the text that ran is put back where the change was made, and with nothing else', async () => {
    const [ran, saved, changed] = ['0.1', '0.2', '0.3'].map((wait) => TEXT.replace('wait: 1', `wait: ${wait}`));
    const skills = [{ name: 'tour', version: 3, text: ran }];
    const { it, asked } = page({ list_skills: { skills }, check_skill: {} });
    const records: LogRecord[] = [{ what: 'run', tick: 1, time: 0.001, skill: 'tour', versions: { tour: 3 } }];
    const { key } = it.docs.open(changed ?? '', { savedName: 'tour', basedOn: 4, savedText: saved ?? '' });
    assert.equal(it.drawn.textThatRan(records), undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(it.drawn.textThatRan(records), ran, 'of the version that ran, not of the one that is saved');
    assert.equal(asked.filter((each) => each.name === 'list_skills').length, 1);
    const change = { ...CHANGE, text: changed ?? '', doc: key, before: ran ?? '' };
    const shown = (): boolean => it.docs.doc !== undefined && canGoBack(change, it.docs.doc);
    assert.equal(shown(), true);
    it.docs.open(changed ?? '');
    assert.equal(shown(), false, 'another document of the same text');
    it.docs.activate(0);
    it.docs.edit((text) => `${text}# more\n`);
    assert.equal(shown(), false, 'what was edited later would be lost');
    it.docs.undo();
    assert.equal(shown(), true);
    assert.equal(canGoBack({ ...change, before: null }, it.docs.all[0] ?? assert.fail()), false);
    assert.equal(canGoBack({ ...change, before: change.text }, it.docs.all[0] ?? assert.fail()), false);
    assert.equal(canGoBack(change, { ...(it.docs.all[0] ?? assert.fail()), readOnly: true }), false);
});
