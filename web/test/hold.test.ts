import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hold, type Motion } from '../src/operate/hold.ts';
import type { Answer } from '../src/wire.ts';

type Beat = Answer & { beat?: number };

const MOTION: Motion = { part: 'arm', joint: 2, direction: 1, speed: 0.1 };

/** A hold whose requests wait until they are answered. */
function held(): {
    hold: Hold;
    asked: Record<string, unknown>[];
    answer: (beat: number, why?: string) => void;
    said: string[];
} {
    const asked: Record<string, unknown>[] = [];
    const said: string[] = [];
    let waiting: (answer: Beat) => void = () => undefined;
    const hold = new Hold(
        (request) => {
            asked.push(request as Record<string, unknown>);
            return new Promise((resolve) => {
                if (!('release' in request)) waiting = resolve;
            });
        },
        (why) => said.push(why),
        0,
    );
    return { hold, asked, said, answer: (beat, why = '') => waiting({ success: why === '', message: why, beat }) };
}

async function until(happened: () => boolean): Promise<void> {
    while (!happened()) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('E26 each sign of life waits for the last answer, and echoes it', async () => {
    const { hold, asked, answer } = held();
    const id = hold.press(MOTION);
    assert.deepEqual(asked, [{ hold: id, ...MOTION }]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(asked.length, 1, 'no answer, no further sign');
    answer(7);
    await until(() => asked.length === 2);
    assert.deepEqual(asked[1], { hold: id, beat: 7 });
    answer(8);
    await until(() => asked.length === 3);
    assert.deepEqual(asked[2], { hold: id, beat: 8 });
});

test('E26 after a release nothing more is sent, whatever is answered then', async () => {
    const { hold, asked, answer, said } = held();
    const id = hold.press(MOTION);
    hold.release();
    assert.deepEqual([hold.id, asked[1], said], ['', { hold: id, release: true }, ['', '']]);
    answer(3);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(asked.length, 2);
});

test('E26 a refusal lets go, says why, and is not asked again', async () => {
    const { hold, asked, answer, said } = held();
    hold.press(MOTION);
    answer(0, 'Ben operates');
    await until(() => hold.id === '');
    assert.deepEqual([asked.length, said], [1, ['', 'Ben operates']]);
});

test('E26 another press lets the first one go, whose release then ends nothing', async () => {
    const { hold, asked } = held();
    const first = hold.press(MOTION);
    const second = hold.press({ ...MOTION, direction: -1 });
    assert.notEqual(first, second);
    hold.release(first);
    assert.equal(hold.id, second);
    assert.deepEqual(asked[1], { hold: first, release: true });
});
