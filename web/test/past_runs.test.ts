// The run of a blueprint at a moment of the past.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { happenedUntil, runAt } from '../src/store/past_runs.ts';
import { pathIn } from '../src/store/ran.ts';
import { wayOf } from '../src/way.ts';
import type { LogRecord } from '../src/wire.ts';
import { page } from './page.ts';

const TOUR = 'name: tour\nnodes:\n  a: {wait: 0.1, then: b}\n  b: {wait: 0.2}\n';

function record(tick: number, what: string, more: Record<string, unknown> = {}): LogRecord {
    return { what, tick, time: tick / 1000, ...more };
}

/** A run of `tour` of two nodes, a second each. */
function tour(begun: number, skill = 'tour'): LogRecord[] {
    return [
        record(begun, 'run', { skill, versions: {}, text: TOUR }),
        record(begun, 'node', { path: 'a', visit: 1, attempt: 1 }),
        record(begun + 1000, 'ended', { path: 'a', result: 'done', outputs: {} }),
        record(begun + 1000, 'decided', { path: 'a', go: 'b', judged: [{ candidate: 0, held: true }] }),
        record(begun + 1000, 'node', { path: 'b', visit: 1, attempt: 1 }),
        record(begun + 2000, 'ended', { path: 'b', result: 'failed', reason: 'it was late', outputs: {} }),
        record(begun + 2000, 'end', { result: 'failed', reason: 'it was late' }),
    ];
}

async function settled(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 20));
}

test('H18 what a log has until a tick is what had happened', () => {
    const records = tour(5000);
    assert.deepEqual(
        [0, 4999, 5000, 5999, 6000, 6999, 7000, 9e9].map((tick) => happenedUntil(records, tick)),
        [0, 0, 2, 2, 5, 5, 7, 7],
    );
    const way = wayOf(records, '', happenedUntil(records, 6500));
    assert.deepEqual([way.nodes.get('a')?.result, way.nodes.get('b')?.running], ['done', true]);
    assert.deepEqual([...way.links], ['a:0:b']);
    assert.equal(wayOf(records, '', happenedUntil(records, 7000)).nodes.get('b')?.result, 'failed');
});

test('H18 a moment shows the run that goes on then, rather that of the shown graph, else the last one', () => {
    const logs = new Map([
        ['first', tour(1000)],
        ['other', tour(2500, 'other')],
        ['unread', []],
    ]);
    const at = (tick: number, name = 'tour'): string | null => runAt(logs, tick, name);
    assert.deepEqual([at(999), at(1000), at(2499)], [null, 'first', 'first']);
    assert.deepEqual([at(2700), at(2700, 'other'), at(2700, 'neither')], ['first', 'other', 'other']);
    assert.deepEqual([at(3500), at(9000)], ['other', 'other']);
});

test('H18 a graph that is not in a run is not drawn by it', () => {
    const records = [...tour(1), record(5, 'call', { path: 'a', skill: 'press@2' })];
    assert.deepEqual([pathIn(records, 'tour'), pathIn(records, 'press'), pathIn(records, 'lift')], ['', 'a', null]);
});

test('H18 the replay follows the moment that is shown, and goes with it', async () => {
    const lines = tour(1000).map((each) => JSON.stringify(each));
    const { it, asked } = page({ read_runs: { lines, total: lines.length } });
    it.docs.open(TOUR);
    const sought: number[] = [];
    const show = (tick: number): void =>
        it.showPast({ tick, runs: ['r1'], seek: (wanted) => void sought.push(wanted) });
    show(500);
    assert.deepEqual([it.isPast, it.runs.replay?.run, it.runs.replay?.at], [true, '', 0], 'nothing of now is drawn');
    assert.equal(it.runs.replay?.isAwaited, true, 'whether it had begun is not known before its log is here');
    await settled();
    assert.deepEqual([it.runs.replay?.run, it.runs.replay?.isAwaited], ['', false], 'it had not begun');
    show(2100);
    assert.deepEqual([it.runs.replay?.run, it.runs.replay?.at], ['r1', 5]);
    assert.equal(it.drawn.comparedWith(it.runs.replay?.records ?? []), 'same');
    show(1000);
    assert.equal(it.runs.replay?.at, 2);
    it.runs.replay?.seek?.(7);
    assert.deepEqual(sought, [7]);
    assert.equal(asked.filter((each) => each.name === 'read_runs').length, 1, 'a run that has ended is read once');
    it.runs.replay = { run: 'opened', records: [], at: 0 };
    show(1001);
    assert.equal(it.runs.replay?.run, 'opened', 'a replay that a person opened stays');
    it.showPast(null);
    assert.deepEqual([it.isPast, it.runs.replay], [false, null]);
});

test('H18 the records of a run that goes on come as they are written', async (context) => {
    const records = tour(1000).map((each) => JSON.stringify(each));
    let written = 2;
    const { it } = page({});
    globalThis.fetch = async (_, init) => {
        const { first } = JSON.parse(String(init?.body)) as { first: number };
        return Response.json({ success: true, message: '', lines: records.slice(first, written), total: written });
    };
    let now = 0;
    context.mock.method(performance, 'now', () => now);
    const show = async (): Promise<number | undefined> => {
        now += 1000;
        it.showPast({ tick: 9000, runs: ['r1'], seek: () => undefined });
        await settled();
        return it.runs.replay?.at;
    };
    assert.equal(await show(), 2);
    written = 6;
    assert.equal(await show(), 6);
    written = 7;
    assert.equal(await show(), 7);
});

test('H18 no more logs are read once now is shown', async () => {
    const { it, asked } = page({ read_runs: { lines: tour(1000).map((each) => JSON.stringify(each)), total: 7 } });
    it.showPast({ tick: 9000, runs: ['r1', 'r2', 'r3'], seek: () => undefined });
    it.showPast(null);
    await settled();
    assert.deepEqual(
        asked.filter((each) => each.name === 'read_runs').map((each) => each.request.run),
        ['r3'],
    );
});
