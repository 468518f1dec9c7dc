import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { PastAbout, PastBars, PastEvent } from '../src/past/wire.ts';
import { type RecordedLink, RecordedSource } from '../src/timeline/recorded.ts';
import type { TickRange } from '../src/timeline/source.ts';

const [FIRST, LAST] = [5, 59_999];
const LOST = { first: 30_000, last: 30_999 };
const NAMES = ['arm.position[0]', 'arm.state'];

const ABOUT = {
    period: 0.001,
    first: FIRST,
    last: LAST,
    parts: [
        { name: 'arm', kind: 'arm' },
        { name: 'eye', kind: 'rangefinder' },
    ],
    actions: ['default', 'go'],
} as PastAbout;

/** NaN: the tick is missing, or the value unknown. */
function value(name: string, tick: number): number {
    if (tick < FIRST || tick > LAST || (tick >= LOST.first && tick <= LOST.last)) return Number.NaN;
    if (name === 'arm.state') return 1;
    return tick % 10_000 === 50 ? Number.NaN : Math.sin(tick * 0.37) * 10 + (tick % 97);
}

/** As robot_rt_control/editor/past/values.py cuts them. */
function columnBytes({ names, first, last, count }: Parameters<RecordedLink['columns']>[0]): ArrayBuffer {
    const bytes = new ArrayBuffer(33 * count * names.length);
    const n = last - first + 1;
    for (const [i, name] of names.entries()) {
        const fields = [0, 1, 2, 3].map((field) => new Float64Array(bytes, 8 * count * (4 * i + field), count));
        const broken = new Uint8Array(bytes, 32 * count * names.length + count * i, count);
        for (let column = 0; column < count; column++) {
            const begin = first + Math.ceil((column * n) / count);
            const end = first + Math.ceil(((column + 1) * n) / count) - 1;
            const all = Array.from({ length: end - begin + 1 }, (_, k) => value(name, begin + k));
            const known = all.filter((each) => !Number.isNaN(each));
            const isNone = known.length === 0;
            const found = [Math.min(...known), Math.max(...known), known[0], known.at(-1)];
            for (const [field, numbers] of fields.entries())
                numbers[column] = isNone ? Number.NaN : (found[field] as number);
            broken[column] = known.length < all.length ? 1 : 0;
        }
    }
    return bytes;
}

/** The arm has an action throughout, another one from 25 000 on; the eye none. */
function barsOf({ first, last }: TickRange): PastBars {
    const runs: [number, number, number][] = [
        [0, FIRST, 24_999],
        [1, 25_000, LOST.first - 1],
        [1, LOST.last + 1, LAST],
    ];
    const bars = runs
        .filter(([, begin, end]) => begin <= last && end >= first)
        .map(([action, begin, end]): PastBars['bars'][0] => [0, action, Math.max(begin, first), Math.min(end, last)]);
    const isLost = LOST.first <= last && LOST.last >= first;
    return { bars, gaps: isLost ? [[Math.max(LOST.first, first), Math.min(LOST.last, last)]] : [] };
}

const done = { success: true, message: '' };

function opened(link: Partial<RecordedLink> = {}): { it: RecordedSource; asked: { count: number; first: number }[] } {
    const asked: { count: number; first: number }[] = [];
    const it = new RecordedSource(ABOUT, {
        variables: async () => ({
            ...done,
            variables: NAMES.map((name) => ({ name, unit: name === 'arm.state' ? '' : 'rad', description: 'd' })),
        }),
        columns: async (wish) => {
            asked.push(wish);
            return columnBytes(wish);
        },
        bars: async (range) => ({ ...done, ...barsOf(range) }),
        ...link,
    });
    it.choose(NAMES);
    return { it, asked };
}

/** Let all come that is under way; what is looked at says anew what it lacks. */
async function settled(look: () => void = () => {}): Promise<void> {
    for (let i = 0; i < 100; i++) {
        look();
        await new Promise((resolve) => setImmediate(resolve));
    }
}

test('recorded: samples are the values of the ticks that are there, and nothing is asked for twice', async () => {
    const { it, asked } = opened();
    const range = { first: 29_900, last: 31_100 };
    await settled(() => it.samples('arm.position[0]', range));
    const { ticks, values } = it.samples('arm.position[0]', range);
    const wanted = Array.from({ length: 1201 }, (_, i) => 29_900 + i).filter(
        (tick) => tick < LOST.first || tick > LOST.last,
    );
    assert.deepEqual([...ticks], wanted);
    assert.deepEqual(
        [...values],
        wanted.map((tick) => value('arm.position[0]', tick)),
    );
    assert.equal(asked.length, 2, 'one for each tile of 1024 ticks');
    const unknown = { first: 10_050, last: 10_050 };
    await settled(() => it.samples('arm.position[0]', unknown));
    const found = it.samples('arm.position[0]', unknown);
    assert.deepEqual([[...found.ticks], [...found.values]], [[10_050], [Number.NaN]], 'it is there, and unknown');
    assert.deepEqual([...it.samples('no such', range).ticks], []);
    assert.throws(() => it.samples('arm.position[0]', it.range), /more than 20000 ticks/);
});

test('recorded: columns hold the least and greatest value, and nothing is joined across what is missing', async () => {
    const { it } = opened();
    for (const [first, last, count] of [
        [0, 59_999, 300],
        [-500, 700, 400],
        [29_500, 33_000, 700],
        [40_001, 40_020, 20],
    ] as const) {
        await settled(() => it.columns('arm.position[0]', { first, last }, count));
        const found = it.columns('arm.position[0]', { first, last }, count);
        const width = (last - first + 1) / count;
        let broken = 0;
        for (let column = 0; column < count; column++) {
            const [begin, end] = [Math.ceil(first + column * width), Math.ceil(first + (column + 1) * width) - 1];
            const of = (from: number, to: number): number[] =>
                Array.from({ length: to - from + 1 }, (_, i) => value('arm.position[0]', from + i));
            const known = of(begin, end).filter((each) => !Number.isNaN(each));
            // Edges are off by less than a column.
            const near = of(Math.floor(begin - width), Math.ceil(end + width)).filter((each) => !Number.isNaN(each));
            if (near.length === 0) assert.ok(Number.isNaN(found.min[column]));
            if (known.length === end - begin + 1) {
                assert.ok((found.min[column] as number) >= Math.min(...near));
                assert.ok((found.max[column] as number) <= Math.max(...near));
                assert.ok((found.max[column] as number) >= (found.min[column] as number));
            }
            if (width < 4 && known.length > 0) {
                assert.equal(found.min[column], Math.min(...known), `column ${column}`);
                assert.equal(found.max[column], Math.max(...known));
                assert.equal(found.first[column], known[0]);
                assert.equal(found.last[column], known.at(-1));
            }
            const isWhole = known.length === end - begin + 1 && !Number.isNaN(value('arm.position[0]', begin - 1));
            if (!isWhole) assert.equal(found.broken[column], 1, `column ${column} of ${first}`);
            if (column > 0) broken += found.broken[column] as number;
        }
        assert.ok(broken < count, 'most are joined');
        assert.equal(broken > 0, first !== 40_001);
    }
    const all = it.columns('arm.position[0]', it.range, 300);
    const [min, max] = [all.min, all.max].map((each) => [...each].filter((one) => !Number.isNaN(one)));
    const every = Array.from({ length: LAST - FIRST + 1 }, (_, i) => value('arm.position[0]', FIRST + i));
    const known = every.filter((each) => !Number.isNaN(each));
    assert.equal(Math.min(...(min ?? [])), Math.min(...known), 'no peak is lost');
    assert.equal(Math.max(...(max ?? [])), Math.max(...known));
});

test('recorded: what was seen before is coarse until it has come, and what cannot be read is said once', async () => {
    let isUp = true;
    let asked = 0;
    const { it } = opened({
        columns: async (wish) => {
            asked++;
            return isUp ? columnBytes(wish) : null;
        },
    });
    await settled(() => it.columns('arm.state', it.range, 300));
    isUp = false;
    asked = 0;
    const close = { first: 2000, last: 9000 };
    await settled(() => it.columns('arm.state', close, 300));
    assert.ok([...it.columns('arm.state', close, 300).max].every((each) => each === 1));
    assert.match(it.problem, /cannot be read/);
    assert.ok(asked < 10, 'it is not asked for again and again');
    isUp = true;
    it.choose(NAMES);
    await settled(() => it.columns('arm.state', close, 300));
    assert.equal(it.problem, '');
});

test('recorded: bars and gaps are joined across pieces, marks are the events, which know the session', async () => {
    const { it } = opened();
    await settled();
    const event = (tick: number, kind: string, more: Partial<PastEvent>): PastEvent => ({
        tick,
        kind,
        reason: '',
        part: '',
        session: '',
        previous_action: '',
        current_action: '',
        reaction: '',
        event: '',
        values: {},
        ...more,
    });
    const begun = { part: 'arm', session: 's1', previous_action: 'default', current_action: 'go', values: { d: 0.25 } };
    const events = [event(25_000, 'reaction_fired', begun), event(40_000, 'part_faulted', { part: 'eye' })];
    it.takeEvents({ events, stops: [], left_out: 0 });
    assert.deepEqual(it.gaps(it.range), [LOST]);
    assert.deepEqual(it.gaps({ first: 30_500, last: 70_000 }), [{ first: 30_500, last: LOST.last }]);
    assert.deepEqual(it.gaps({ first: 0, last: 29_999 }), []);
    const bar = { part: 'arm', action: 'go', session: 's1', began: false };
    assert.deepEqual(it.bars(it.range), [
        { ...bar, action: 'default', session: '', first: FIRST, last: 24_999, began: true },
        { ...bar, first: 25_000, last: 29_999 },
        { ...bar, session: '', first: 31_000, last: LAST, began: true },
    ]);
    assert.equal(it.bars({ first: 30_100, last: 30_200 }).length, 0);
    assert.deepEqual(
        it.marks({ first: 0, last: 39_999 }).map((mark) => [mark.tick, mark.kind, mark.currentAction, mark.values]),
        [[25_000, 'reaction_fired', 'go', { d: 0.25 }]],
    );
    it.takeEvents({ events, stops: [], left_out: 7 });
    assert.match(it.problem, /7 later events/);
});

test('recorded: what parts did is not asked for after it was closed', async () => {
    let asked = 0;
    const { it } = opened({
        bars: async (range) => {
            asked++;
            return { ...done, ...barsOf(range) };
        },
    });
    it.close();
    await settled();
    assert.equal(asked, 1);
});
