import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StopSender } from '../src/store/stop.ts';
import type { Answer } from '../src/wire.ts';

const yes: Answer = { success: true, message: '' };
const no: Answer = { success: false, message: 'no answer' };

/** A sender whose requests wait until they are answered: `answers[i]` answers the i-th. */
function sender(): { stop: StopSender; answers: ((answer: Answer) => void)[] } {
    const answers: ((answer: Answer) => void)[] = [];
    const stop = new StopSender(
        () =>
            new Promise((resolve) => {
                answers.push(resolve);
            }),
        () => undefined,
        0,
    );
    return { stop, answers };
}

async function until(happened: () => boolean): Promise<void> {
    while (!happened()) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('E15 a press while an earlier one is on its way is sent as well: its stop may have been released', async () => {
    const { stop, answers } = sender();
    const first = stop.press();
    assert.equal(await stop.press(), undefined);
    answers[0]?.(yes);
    await until(() => answers.length === 2);
    assert.equal(stop.sending, true, 'what was sent before the second press does not confirm it');
    answers[1]?.(yes);
    assert.equal(await first, true);
    assert.deepEqual([stop.sending, answers.length], [false, 2]);
});

test('E15 it is sent again until it is confirmed, and says why it was not', async () => {
    const { stop, answers } = sender();
    const pressed = stop.press();
    answers[0]?.(no);
    await until(() => answers.length === 2);
    assert.deepEqual([stop.sending, stop.problem], [true, 'no answer']);
    answers[1]?.(yes);
    assert.equal(await pressed, true);
    assert.deepEqual([stop.sending, stop.problem], [false, '']);
});
