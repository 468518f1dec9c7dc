import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Block, Blocks, faultedParts, sceneJoints } from '../src/past/blocks.ts';
import { fragmentOf, tickOf } from '../src/past/link.ts';
import { LivePast } from '../src/past/live_past.ts';
import { countUntil, Player } from '../src/past/player.ts';
import type { PastAbout } from '../src/past/wire.ts';
import type { View } from '../src/scene/view.ts';
import { open } from '../src/store/page.ts';
import type { Scene } from '../src/wire.ts';
import { page } from './page.ts';

const ABOUT: PastAbout = {
    name: 'a.mcap',
    workcell: 'w',
    hardware: 'mock',
    clock: 'lockstep',
    version: '1',
    period: 0.001,
    first: 5,
    last: 4999,
    reason: '',
    is_log: false,
    block: 1000,
    joints: ['turn', 'slide'],
    parts: [
        { name: 'arm', kind: 'arm' },
        { name: 'eye', kind: 'rangefinder' },
    ],
    actions: ['go'],
    faults: { '3': 'too far' },
    problems: [],
};

/** A block of some ticks, as robot_rt_control/editor/past/recorded.py writes it: turn is the tick, slide 0.5. */
function bytes(number: number, ticks = ABOUT.block, missing = -1): ArrayBuffer {
    const made = new ArrayBuffer(16 + ticks * (8 + 2 * 4 + 2 * 4 + 2 + 2));
    new Uint32Array(made, 0, 4).set([ticks, 2, 2, 0]);
    const times = new Float64Array(made, 16, ticks);
    const q = new Float32Array(made, 16 + 8 * ticks, 2 * ticks);
    const actions = new Int32Array(made, 16 + 16 * ticks, 2 * ticks);
    const states = new Uint8Array(made, 16 + 24 * ticks, 2 * ticks);
    const faults = new Uint8Array(made, 16 + 26 * ticks, 2 * ticks);
    for (let n = 0; n < ticks; n++) {
        const tick = number * ticks + n;
        times[n] = tick === missing ? Number.NaN : tick * 0.001;
        q.set([tick, 0.5], 2 * n);
        actions.set([0, -1], 2 * n);
        states.set([tick >= 1500 ? 2 : 1, 1], 2 * n);
        faults.set([tick >= 1500 ? 3 : 0, 0], 2 * n);
    }
    return made;
}

/** Blocks that come when the test lets them. */
function deferred() {
    const asked: number[] = [];
    const waiting: (() => void)[] = [];
    let changes = 0;
    const blocks = new Blocks(
        ABOUT,
        (number) => {
            asked.push(number);
            return new Promise((resolve) => waiting.push(() => resolve(number === 3 ? null : bytes(number))));
        },
        () => changes++,
    );
    const come = async (): Promise<void> => {
        for (const each of waiting.splice(0)) each();
        await new Promise((resolve) => setTimeout(resolve));
    };
    return { blocks, asked, come, changes: () => changes };
}

test('a block has the state of each tick, and says which are missing', () => {
    const block = new Block(bytes(1, 1000, 1234));
    const found = block.at(600);
    assert.deepEqual([found?.time, [...(found?.q ?? [])], [...(found?.actions ?? [])]], [1.6, [1600, 0.5], [0, -1]]);
    assert.deepEqual(faultedParts(found, ABOUT), [{ name: 'arm', fault: 'too far' }]);
    assert.deepEqual(faultedParts(block.at(10), ABOUT), []);
    assert.deepEqual([block.at(234), block.at(1000), block.at(-1)], [null, null, null]);
    assert.throws(() => new Block(bytes(1).slice(0, -1)), RangeError);
});

test('blocks are fetched once, the wanted one first, then those that follow', async () => {
    const { blocks, asked, come, changes } = deferred();
    assert.equal(blocks.at(1500), undefined);
    blocks.want(1500, 1, 2);
    blocks.want(1500, 1, 2);
    assert.deepEqual(asked, [1, 2, 3]);
    await come();
    assert.equal(changes(), 3);
    assert.equal(blocks.at(1500)?.q[0], 1500);
    assert.equal(blocks.at(3500), null, 'it was refused: it is not asked for again');
    blocks.want(3500, -1, 9);
    await come();
    assert.deepEqual(asked, [1, 2, 3, 0], 'no block before the first tick');
});

test('what was wanted last is fetched first', async () => {
    const { blocks, asked, come } = deferred();
    blocks.want(500, 1, 4);
    assert.deepEqual(asked, [0, 1, 2]);
    blocks.want(4500, 1, 0);
    await come();
    assert.deepEqual(asked, [0, 1, 2, 4], 'block 3 is wanted no more');
});

test('time passes at any speed, forwards and back, and ends at an end', () => {
    const player = new Player(1, 100, 0.001);
    player.seek(1e9);
    assert.equal(player.tick, 100);
    player.play(1);
    assert.deepEqual([player.tick, player.direction], [1, 1], 'at the end it begins anew');
    player.speed = 0.01;
    for (let n = 0; n < 4; n++) assert.equal(player.advance(0.016), false);
    let shown = 0;
    for (let n = 0; n < 60; n++) shown += player.advance(1 / 60) ? 1 : 0;
    assert.deepEqual([player.tick, shown], [11, 10], 'one second at 0.01 and 0.64 ticks before');
    player.speed = 10;
    assert.equal(player.advance(0.005), true);
    assert.equal(player.tick, 61);
    player.advance(1);
    assert.deepEqual([player.tick, player.direction], [100, 0]);
    player.play(-1);
    player.advance(0.003);
    assert.deepEqual([player.tick, player.direction], [70, -1]);
    player.play(-1);
    assert.equal(player.direction, 0, 'pressed again: it stands');
    player.play(1);
    player.step(-3);
    assert.deepEqual([player.tick, player.direction], [67, 0]);
    player.step(-1000);
    player.play(-1);
    assert.equal(player.tick, 100, 'back from the first tick: from the end');
});

test('a link names a tick, beside a token too, and nothing else', () => {
    assert.equal(tickOf('#token=abc&tick=12345'), 12345);
    assert.equal(tickOf(fragmentOf(7)), 7);
    for (const none of ['', '#', '#tick=', '#tick=-1', '#tick=1e3', '#tick=<b>', `#tick=${'9'.repeat(16)}`])
        assert.equal(tickOf(none), null, none);
});

test('events until a tick', () => {
    const events = [1, 3, 3, 9].map((tick) => ({ tick }));
    assert.deepEqual(
        [0, 1, 2, 3, 8, 9, 99].map((tick) => countUntil(events, tick)),
        [0, 1, 1, 3, 3, 4, 4],
    );
    assert.equal(countUntil([], 5), 0);
});

test('the joints of a scene come from those that were recorded, and those that follow from them', () => {
    const joints = [
        { name: 'half', follows: [2, 0.5, 1] },
        { name: 'slide', follows: null },
        { name: 'turn', follows: null },
        { name: 'quarter', follows: [0, 0.5, 0] },
        { name: 'elsewhere', follows: null },
        { name: 'circle', follows: [5, 1, 0] },
    ];
    const made = sceneJoints({ version: 9, joints }, ['turn', 'slide'], [2, 0.25]);
    assert.equal(new DataView(made).getUint32(0, true), 9);
    assert.deepEqual([...new Float32Array(made, 4)], [2, 0.25, 2, 1, Number.NaN, Number.NaN]);
});

/** The last minutes of a robot whose ticks are those of `bytes`, and what is drawn of them. */
async function lookBack(answers: Record<string, object> = {}) {
    const { it } = page({});
    open(it);
    const recent = { ...ABOUT, loop: 1, runs: [], events: [] };
    globalThis.fetch = async (url, init) => {
        const name = String(url).replace('/api/', '');
        const answer = { recent, ...answers }[name];
        if (answer) return Response.json({ success: true, message: '', ...answer });
        return new Response(bytes((JSON.parse(String(init?.body)) as { block: number }).block));
    };
    const drawn: number[] = [];
    /** The first joint of the second robot; undefined: it is not drawn. */
    let ghost: number | undefined;
    const first = (frame: ArrayBuffer): number => new Float32Array(frame, 4)[0] ?? Number.NaN;
    const view = {
        takeJoints: (frame: ArrayBuffer) => void drawn.push(first(frame)),
        showGhost: () => undefined,
        moveGhost: (frame: ArrayBuffer) => {
            ghost = first(frame);
        },
        hideGhost: () => {
            ghost = undefined;
        },
    } as unknown as View;
    const past = new LivePast();
    await past.begin();
    past.draw(view, SCENE);
    return { it, past, view, drawn, ghost: () => ghost };
}

const SCENE = { version: 1, joints: [{ name: 'turn', follows: null }] } as unknown as Scene;

async function arrived(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 20));
}

async function until(holds: () => unknown): Promise<void> {
    for (let n = 0; n < 500 && !holds(); n++) await arrived();
    assert.ok(holds(), 'waited in vain');
}

test('H16 a picture that is opened while the robot is shown as it is now gets nothing of the past', async () => {
    const { it, past, view, drawn } = await lookBack();
    past.seek(1600);
    await until(() => past.state);
    assert.deepEqual([drawn.at(-1), it.isPast], [1600, true]);
    past.now();
    assert.deepEqual([past.state, it.isPast], [null, false]);
    drawn.length = 0;
    past.draw(view, SCENE);
    await arrived();
    assert.deepEqual(drawn, [], 'what is now comes from elsewhere');
    past.seek(1700);
    past.draw(view, SCENE);
    assert.deepEqual(new Set(drawn), new Set([1700]));
    past.close();
});

test('H16 the past is behind by the ticks until the last one, and the time for which none came', async (context) => {
    let now = 5000;
    context.mock.method(performance, 'now', () => now);
    const { past } = await lookBack();
    past.seek(3999);
    now += 1000;
    assert.equal(past.behind, 1, 'ticks come in packets');
    now += 1500;
    assert.equal(past.behind, 3.5);
    past.seek(4999);
    assert.equal(past.behind, 2.5);
    past.close();
});

test('E34 the robot of a simulation is drawn from the tick on from which it goes on, and not before', async () => {
    const about = { ...ABOUT, first: 13, last: 1013 };
    const answer = { number: 1, result: 'done', first: 13, last: 1013, records: [], notes: [], about };
    const { past, ghost } = await lookBack({ what_if: answer, what_if_end: {}, scene: SCENE });
    past.seek(1600);
    past.askWhatIf({ run: 'r1', name: 'tour', text: 'name: tour\n', doc: 1, before: null });
    await until(() => ghost() !== undefined);
    assert.equal(ghost(), 13);
    past.seek(1599);
    assert.equal(ghost(), undefined);
    past.seek(1700);
    assert.equal(ghost(), 113);
    past.now();
    assert.equal(ghost(), undefined, 'now is shown');
    past.seek(1600);
    assert.equal(ghost(), 13);
    past.endWhatIf();
    assert.equal(ghost(), undefined);
    past.close();
});
