import assert from 'node:assert/strict';
import { test } from 'node:test';

import { matching } from '../src/timeline/chooser.ts';
import { readFrame } from '../src/timeline/frame.ts';
import { LiveSource, type TimelineTaker, type TimelineWish } from '../src/timeline/live.ts';
import { barColor, numberText, roundStep, strokeOf, timeText } from '../src/timeline/look.ts';
import { Ranges } from '../src/timeline/ranges.ts';
import { leadsTo, listed, placeShown, wanted } from '../src/timeline/reactions.ts';
import { Series } from '../src/timeline/series.ts';
import type { Bar, Mark } from '../src/timeline/source.ts';
import type { ReactionNow, WireMark } from '../src/timeline/wire.ts';
import type { VariableInfo } from '../src/wire.ts';

/** As robot_rt_control/editor/timelines.py packs it. */
function frame(choice: number, first: number, count: number, columns: Record<number, number[]>): ArrayBuffer {
    const places = Object.keys(columns).map(Number);
    const at = 24 + 4 * (places.length + (places.length % 2));
    const view = new DataView(new ArrayBuffer(at + 8 * count * places.length));
    view.setUint32(0, 0xffffffff, true);
    view.setUint32(4, choice, true);
    view.setFloat64(8, first, true);
    view.setUint32(16, count, true);
    view.setUint32(20, places.length, true);
    for (const [n, place] of places.entries()) {
        view.setUint32(24 + 4 * n, place, true);
        for (const [i, value] of (columns[place] ?? []).entries())
            view.setFloat64(at + 8 * (n * count + i), value, true);
    }
    return view.buffer;
}

const ticks = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);

test('ranges: what follows is joined, what is missing is a gap', () => {
    const it = new Ranges();
    assert.deepEqual([it.whole, it.gaps({ first: 0, last: 9 })], [null, []]);
    it.add(10, 19);
    it.add(20, 24);
    it.add(12, 24); // it came again
    it.add(30, 39);
    assert.deepEqual(it.whole, { first: 10, last: 39 });
    assert.deepEqual(it.gaps({ first: 0, last: 99 }), [{ first: 25, last: 29 }]);
    assert.deepEqual(it.gaps({ first: 27, last: 28 }), [{ first: 27, last: 28 }]);
    assert.deepEqual(it.gaps({ first: 27, last: 35 }), [{ first: 27, last: 29 }]);
    assert.deepEqual(it.within({ first: 22, last: 31 }), [
        { first: 22, last: 24 },
        { first: 30, last: 31 },
    ]);
    it.trim(33);
    assert.deepEqual(it.whole, { first: 33, last: 39 });
    it.trim(50);
    assert.equal(it.whole, null);
});

test('columns have the least and greatest value of their ticks, however many there are', () => {
    const it = new Series();
    const value = (tick: number): number => Math.sin(tick * 0.37) * 10 + (tick % 97);
    const first = 8000; // across the end of a chunk
    it.append(first, Float64Array.from(ticks(first, 30_000), value));
    for (const [begin, end, count] of [
        [first, first + 29_999, 100],
        [first + 17, first + 20_011, 333],
        [first + 5, first + 12, 3],
    ] as const) {
        const found = it.columns({ first: begin, last: end }, count);
        const width = (end - begin + 1) / count;
        for (let column = 0; column < count; column++) {
            const own = ticks(begin, end - begin + 1).filter(
                (tick) => tick >= begin + column * width && tick < begin + (column + 1) * width,
            );
            assert.equal(found.min[column], Math.min(...own.map(value)));
            assert.equal(found.max[column], Math.max(...own.map(value)));
            assert.equal(found.first[column], value(own[0] as number));
            assert.equal(found.last[column], value(own.at(-1) as number));
            assert.equal(found.broken[column], own[0] === first ? 1 : 0);
        }
    }
});

test('nothing is drawn across what is unknown or missing', () => {
    const it = new Series();
    it.append(0, Float64Array.from([1, 2, Number.NaN, 4]));
    it.append(6, Float64Array.from([7, 8]));
    const { broken, min } = it.columns({ first: 0, last: 7 }, 8);
    assert.deepEqual([...broken], [1, 0, 1, 1, 1, 1, 1, 0]);
    assert.deepEqual([...min], [1, 2, Number.NaN, 4, Number.NaN, Number.NaN, 7, 8]);
    assert.deepEqual([...it.columns({ first: 0, last: 7 }, 2).broken], [1, 1]);
    it.append(5, Float64Array.from([99, 99, 99, 9])); // what is here already stays
    assert.deepEqual([it.at(6), it.at(8), it.last], [7, 9, 8]);
});

test('old chunks are forgotten', () => {
    const it = new Series();
    it.append(0, new Float64Array(20_000).fill(1));
    it.trim(9000);
    assert.deepEqual([it.at(8191), it.at(8192)], [Number.NaN, 1]);
});

class Socket {
    wishes: (TimelineWish | null)[] = [];
    taker: TimelineTaker | null = null;
    followTimeline(wish: TimelineWish | null, taker: TimelineTaker | null): void {
        this.wishes.push(wish);
        this.taker = taker;
    }
}

function live(): { it: LiveSource; socket: Socket } {
    const socket = new Socket();
    const info = (name: string, unit: string): VariableInfo => ({
        name,
        type: 'float',
        unit,
        description: '',
        value: 0,
    });
    const it = new LiveSource(socket, async (session) =>
        session ? [info('a', 'rad'), info('go.progress', '%')] : [info('a', 'rad')],
    );
    const layout = {
        loop: 7,
        period: 0.002,
        parts: ['arm'],
        every_tick: ['a', 'b'],
        sampled: ['s1/go.progress'],
        problem: '',
    };
    it.takeNews({ layout });
    return { it, socket };
}

test('values are those of the frames, each tick once, also after another choice', () => {
    const { it, socket } = live();
    it.choose(['b', 'a']);
    assert.deepEqual(socket.wishes.at(-1), { choice: 1, names: ['b', 'a'], rate: 20 });
    it.takeTicks(frame(1, 100, 3, { 0: [1, 2, 3], 1: [0.1, 0.2, Number.NaN] }));
    it.takeTicks(frame(1, 105, 2, { 0: [6, 7], 1: [0.6, 0.7] }));
    const all = { first: 0, last: 1000 };
    assert.deepEqual(it.samples('a', all), {
        ticks: Float64Array.from([100, 101, 102, 105, 106]),
        values: Float64Array.from([0.1, 0.2, Number.NaN, 0.6, 0.7]),
    });
    assert.deepEqual(it.gaps(all), [{ first: 103, last: 104 }]);
    it.choose(['a']);
    it.takeTicks(frame(1, 107, 1, { 0: [99], 1: [99] })); // it was on its way
    it.takeTicks(frame(2, 105, 4, { 0: [0.6, 0.7, 0.8, 0.9] }));
    assert.deepEqual([...it.samples('a', { first: 106, last: 999 }).values], [0.7, 0.8, 0.9]);
    assert.equal(it.samples('b', all).ticks.length, 0);
    assert.deepEqual(it.range, { first: 100, last: 108 });
    it.close();
    assert.deepEqual([socket.wishes.at(-1), socket.taker], [null, null]);
});

test('what can be plotted has its unit, and whether each tick is known', async () => {
    const { it } = live();
    await new Promise((resolve) => setTimeout(resolve));
    const found = it.variables.map((each) => [each.name, each.unit, each.everyTick]);
    assert.deepEqual(found, [
        ['a', 'rad', true],
        ['b', '', true],
        ['s1/go.progress', '%', false],
    ]);
});

test('units are asked for at once, and again with those of new sessions', async () => {
    const asked: string[] = [];
    const it = new LiveSource(new Socket(), async (session) => {
        asked.push(session);
        return [];
    });
    const layout = { loop: 7, period: 0.001, parts: [], every_tick: ['a'], sampled: [], problem: '' };
    it.takeNews({ layout });
    it.takeNews({ layout: { ...layout, sampled: ['s1/a.x', 's1/a.y', 's2/b.x'] } });
    await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual(asked.sort(), ['', '', 's1', 's2']);
});

test('samples of some ticks come in order and once', () => {
    const { it } = live();
    it.choose(['s1/go.progress']);
    it.takeNews({
        samples: {
            's1/go.progress': [
                [10, 0.1],
                [110, null],
            ],
        },
    });
    it.takeNews({
        samples: {
            's1/go.progress': [
                [110, 5],
                [210, 0.3],
            ],
            other: [[1, 1]],
        },
    });
    const { ticks, values } = it.samples('s1/go.progress', { first: 0, last: 999 });
    assert.deepEqual(
        [[...ticks], [...values]],
        [
            [10, 110, 210],
            [0.1, Number.NaN, 0.3],
        ],
    );
    assert.equal(it.samples('other', { first: 0, last: 999 }).ticks.length, 0);
});

function mark(of: Partial<WireMark>): WireMark {
    const empty = { session: '', reaction: '', event: '', part: '', reason: '', previous: '', current: '', values: {} };
    return { ...empty, number: 1, tick: 0, kind: 'reaction_fired', ...of };
}

test('bars change by their number; marks that were lost are said', () => {
    const { it } = live();
    const bar = { number: 1, part: 'arm', action: 'go', session: '', first: 5, last: null, began: false };
    it.takeNews({ bars: [bar], marks: [mark({ number: 1, tick: 5, current: 'go' })] });
    it.takeNews({ bars: [{ ...bar, session: 's1', last: 9 }], marks: [mark({ number: 4, tick: 8 })] });
    assert.deepEqual(it.bars({ first: 0, last: 99 }), [
        { part: 'arm', action: 'go', session: 's1', first: 5, last: 9, began: false },
    ]);
    assert.deepEqual([it.bars({ first: 10, last: 99 }), it.bars({ first: 0, last: 4 })], [[], []]);
    const found = it.marks({ first: 0, last: 99 }).map((each: Mark) => [each.tick, each.kind]);
    assert.deepEqual(found, [
        [5, 'reaction_fired'],
        [8, 'events_lost'],
        [8, 'reaction_fired'],
    ]);
    const layout = { loop: 7, period: 0.002, parts: ['arm'], every_tick: [], sampled: [], problem: '' };
    it.takeTicks(frame(0, 1, 9, {}));
    it.takeNews({ layout, marks: [mark({ number: 4, tick: 8 })] }); // after a lost connection
    assert.deepEqual([it.marks({ first: 0, last: 99 }).length, it.range], [3, { first: 1, last: 9 }]);
    it.takeNews({ layout: { ...layout, loop: 8 } });
    assert.deepEqual([it.range, it.bars({ first: 0, last: 99 }), it.marks({ first: 0, last: 99 })], [null, [], []]);
});

test('ten minutes are kept, and no more', () => {
    const { it } = live();
    it.choose(['a']);
    for (let first = 0; first < 310_000; first += 1000) it.takeTicks(frame(1, first, 1000, { 0: ticks(first, 1000) }));
    assert.deepEqual(it.range, { first: 10_000, last: 309_999 });
    assert.deepEqual([...it.samples('a', { first: 0, last: 10_002 }).values], [10_000, 10_001, 10_002]);
});

test('a frame that is cut off is refused', () => {
    assert.throws(() => readFrame(frame(1, 0, 3, { 0: [1, 2, 3] }).slice(0, -8)), RangeError);
});

test('a variable is found by words of its name or description', () => {
    const of = (
        name: string,
        description = '',
    ): { name: string; unit: string; description: string; everyTick: boolean } => ({
        name,
        unit: '',
        description,
        everyTick: true,
    });
    const all = [of('left.arm', ''), of('speed', 'of the arm'), of('arm.position[0]'), of('arm.velocity[0]')];
    assert.deepEqual(
        matching('arm', all).map((each) => each.name),
        ['arm.position[0]', 'arm.velocity[0]', 'left.arm', 'speed'],
    );
    assert.deepEqual(
        matching('arm pos', all).map((each) => each.name),
        ['arm.position[0]'],
    );
    assert.equal(matching('', all).length, 4);
    assert.deepEqual(matching('nothing', all), []);
});

test('numbers, times and steps', () => {
    assert.deepEqual(
        [numberText(0.123456789), numberText(1e-9), numberText(null), numberText(0)],
        ['0.12346', '1.000e-9', 'unknown', '0'],
    );
    assert.deepEqual([timeText(1.5, 0.001), timeText(125, 1), timeText(3725.5, 0.1)], ['1.500 s', '2:05', '1:02:05.5']);
    assert.deepEqual([roundStep(10, 5), roundStep(0.7, 5), roundStep(29, 10)], [2, 0.2, 5]);
});

test('sixteen variables are drawn apart, and an action has one colour', () => {
    const seen = new Set(ticks(0, 16).map((n) => JSON.stringify(strokeOf(n))));
    assert.equal(seen.size, 16);
    assert.equal(barColor('go'), barColor('go'));
    assert.notEqual(barColor('up'), barColor('down'));
});

function reaction(owner: string, name: string, of: Partial<ReactionNow> = {}): ReactionNow {
    const empty = {
        condition: 'a',
        start: '',
        stop: false,
        signal: '',
        event: '',
        fire_once: false,
        keep_owner: false,
        place: '',
    };
    return { owner, name, ...empty, terms: [], ...of };
}

test('reactions of active actions are listed, and that of the chosen mark first', () => {
    const bar = (session: string, action: string, last: number | null): Bar => ({
        part: 'arm',
        action,
        session,
        first: 1,
        last,
        began: false,
    });
    const fired: Mark = { ...mark({}), session: 's1', reaction: 'near', previousAction: 'out', currentAction: 'back' };
    const found = wanted([bar('s1', 'back', null), bar('s2', 'old', 5), bar('', 'default', null)], fired);
    assert.deepEqual([...found.sessions], [['s1', new Set(['back'])]]);
    const all = [reaction('', 'free'), reaction('back', 'far'), reaction('out', 'near'), reaction('other', 'near')];
    const names = listed(all, new Set(['back']), fired).map((each) => `${each.owner}.${each.name}`);
    assert.deepEqual(names, ['out.near', '.free', 'back.far']);
    const many = ['a', 'b', 'c', 'd', 'e'].map((session) => bar(session, 'x', null));
    assert.equal(wanted(many, null).sessions.size, 4);
});

test('where a reaction leads is said in words', () => {
    assert.equal(
        leadsTo(reaction('a', 'r', { start: 'b', keep_owner: true, event: 'e' })),
        'starts b beside a, event e',
    );
    assert.equal(leadsTo(reaction('', 'r', { stop: true, fire_once: true })), 'stops all actions of the session; once');
    assert.equal(placeShown('/home/ann/pick.py:31'), 'pick.py:31');
    assert.equal(placeShown('tour:4'), 'tour:4');
});
