import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Aim, type Found, problemOf, reaches } from '../src/goal/aim.ts';
import { type Goal, goalsOf, goalsOfNode, withValues } from '../src/goal/goals.ts';
import type { Pose } from '../src/goal/pose.ts';
import { stepped } from '../src/goal/steps.ts';
import { readGraph } from '../src/text/graph.ts';
import type { Answer, ParameterInfo, PartInfo, SkillInfo } from '../src/wire.ts';
import './kinds.ts';

function part(name: string): PartInfo {
    const of = { joint_names: ['j1', 'j2'], joint_units: ['rad', 'rad'], command_modes: ['position'], kind: 'arm' };
    return { name, ...of } as unknown as PartInfo;
}

function info(name: string, length: string, unit: string): ParameterInfo {
    return { name, type: 'float', length, unit } as ParameterInfo;
}

const PARTS = [part('left'), part('right')];
const INFOS = [
    info('position', 'dof', 'joint'),
    info('tool_position', '3', 'm'),
    info('tool_orientation', '4', ''),
    info('tolerance', '1', 'joint'),
];

function goals(given: Record<string, unknown>, named = ['right']): Goal[] {
    return goalsOf({ path: ['nodes', 'a', 'with'], infos: INFOS, given, named }, PARTS);
}

function found(of: Partial<Found> = {}): Answer & Found {
    const pose = { position: [1, 2, 3], orientation: [0, 0, 0, 1] };
    return {
        success: true,
        message: '',
        q: [0.1, 0.2],
        joints: ['a', 'b'],
        lacks: [0, 0],
        outside: [],
        ...pose,
        ...of,
    };
}

/** An aim whose questions are answered by hand. */
function aimed(goal: Goal): {
    aim: Aim;
    asked: Record<string, unknown>[];
    answer: (of: Answer & Partial<Found>) => Promise<void>;
    written: object[];
} {
    const asked: Record<string, unknown>[] = [];
    const written: object[] = [];
    let resolve: ((of: Answer & Partial<Found>) => void) | undefined;
    const ask = (request: object): Promise<Answer & Partial<Found>> => {
        asked.push(request as Record<string, unknown>);
        return new Promise((take) => {
            resolve = take;
        });
    };
    const aim = new Aim(
        goal,
        ask,
        () => {},
        (values) => written.push(values),
        0,
    );
    const answer = async (of: Answer & Partial<Found>): Promise<void> => {
        resolve?.(of);
        resolve = undefined;
        for (let n = 0; n < 5; n++) await new Promise((done) => setTimeout(done, 2)); // what follows it is asked
    };
    return { aim, asked, answer, written };
}

test('E31 fields of joints, and of a pose, are goals of the part that is named', () => {
    const [joints, pose] = goals({ position: [0.1, 0.2], tool_orientation: [0, 0, 0, 1] });
    assert.deepEqual([joints?.ofJoints, joints?.part.name, joints?.values], [true, 'right', { joints: [0.1, 0.2] }]);
    assert.deepEqual(pose?.values, { position: null, orientation: [0, 0, 0, 1] });
    assert.equal(pose?.label, 'tool_position, tool_orientation');
    assert.equal(goals({}).length, 2);
    for (const position of [[1], 'there', [1, 'x'], [1, 2, 3], [1, Number.NaN], { value: 1 }])
        assert.match(goals({ position })[0]?.problem ?? '', /position has no 2 numbers/);
});

test('E31 goals of nodes, of branches inside them, and of states of programs', () => {
    const skill = { name: 'move_joint', parts: ['part: arm (left)'], parameters: INFOS } as unknown as SkillInfo;
    const known = { parts: PARTS, skill: (name: string) => (name === 'move_joint' ? skill : undefined) };
    const text = `name: x
nodes:
  a: {skill: move_joint, parts: {part: helper}, with: {position: [1, 2]}}
  b: {all_of: {one: {skill: move_joint, with: {position: [3, 4]}}, two: {wait: 1}}}
`;
    const graph = readGraph(text);
    const of = (id: string): Goal[] => {
        const node = graph.nodes.find((each) => each.id === id);
        return node ? goalsOfNode(node, false, { helper: { default: 'right' } }, known) : [];
    };
    assert.deepEqual(of('a')[0]?.part.name, 'right');
    const [inner] = of('b');
    assert.deepEqual([inner?.path, inner?.part.name], [['nodes', 'b', 'all_of', 'one', 'with'], 'left']);
    const changed = withValues(text, inner as Goal, { joints: [0.1234567, -0] });
    assert.match(changed, /one: \{skill: move_joint, with: \{position: \[0.123457, 0\]\}\}/);
    const pose = of('a')[1] as Goal;
    const both = withValues(text, pose, { position: [1, 2, 3], orientation: [0, 1, 0, 0] });
    assert.match(both, /tool_position: \[1, 2, 3\], tool_orientation: \[0, 1, 0, 0\]/);
});

test('E31 one question at a time; what is let go is written once, if the robot can be there', async () => {
    const goal = goals({ tool_position: [1, 2, 3] })[1] as Goal;
    const { aim, asked, answer, written } = aimed(goal);
    aim.begin();
    assert.deepEqual(asked, [{ part: 'right', position: [1, 2, 3], seed: undefined, quick: false }]);
    await answer(found());
    const to = (x: number): Pose => ({ position: [x, 2, 3], orientation: [0, 0, 0, 1] });
    for (const x of [1.1, 1.2, 1.3]) aim.dragTo(to(x));
    assert.deepEqual([asked.length, asked[1]?.position], [2, [1.1, 2, 3]]);
    assert.deepEqual([asked[1]?.seed, asked[1]?.quick], [[0.1, 0.2], true]);
    await answer(found(to(1.1)));
    assert.deepEqual([asked.length, asked[2]?.position], [3, [1.3, 2, 3]]);
    await answer(found(to(1.3)));
    assert.deepEqual(written, [], 'while it is dragged');
    aim.release();
    assert.equal(asked[3]?.quick, false);
    await answer(found(to(1.3)));
    assert.deepEqual(written, [{ position: [1.3, 2, 3] }], 'the orientation was not written, and was not turned');
    aim.dragTo({ position: [1.3, 2, 3], orientation: [0, 0, Math.sin(0.1), Math.cos(0.1)] });
    aim.release();
    await answer(found(to(1.3)));
    await answer(found({ position: [1.3, 2, 3] }));
    assert.deepEqual(Object.keys(written[1] ?? {}), ['position', 'orientation']);
    aim.release();
    assert.equal(written.length, 2, 'nothing was dragged');
});

test('E31 steps that follow each other add up, and are written once', async () => {
    const goal = goals({ tool_position: [1, 2, 3] })[1] as Goal;
    const { aim, asked, answer, written } = aimed(goal);
    const step = ({ position: [x = 0, ...rest], orientation }: Pose): Pose => ({
        position: [x + 1, ...rest],
        orientation,
    });
    const at = (x: number): Pose => ({ position: [x, 2, 3], orientation: [0, 0, 0, 1] });
    aim.moveBy(step);
    assert.equal(asked.length, 0, 'nobody knows from where');
    aim.begin();
    await answer(found());
    aim.moveBy(step);
    aim.moveBy(step);
    assert.deepEqual([asked.length, asked[1]?.position, asked[1]?.quick], [2, [2, 2, 3], false]);
    await answer(found(at(2)));
    assert.deepEqual([asked.length, asked[2]?.position, written], [3, [3, 2, 3], []], 'another one follows');
    await answer(found(at(3)));
    assert.deepEqual(written, [{ position: [3, 2, 3] }]);
    aim.moveBy(step);
    await answer(found(at(4)));
    assert.deepEqual(written[1], { position: [4, 2, 3] });
    // One that is beyond reach: the next one begins where the robot is drawn.
    aim.moveBy(step);
    await answer(found({ ...at(5), lacks: [1, 0] }));
    await answer(found(at(1)));
    assert.match(aim.said, /^Not taken: out of reach/);
    aim.moveBy(step);
    assert.deepEqual([asked.at(-1)?.position, written.length], [[2, 2, 3], 2]);
});

test('E31 what the robot cannot reach says by how much, and writes nothing', async () => {
    const goal = goals({ tool_position: [1, 2, 3] })[1] as Goal;
    const { aim, asked, answer, written } = aimed(goal);
    aim.begin();
    await answer(found());
    aim.dragTo({ position: [9, 2, 3], orientation: [0, 0, 0, 1] });
    aim.release();
    await answer(found({ lacks: [0.1234, 0.02] }));
    await answer(found({ lacks: [0.1234, 0.02] }));
    assert.equal(aim.said, 'Not taken: out of reach by 123 mm + 1.1°');
    assert.deepEqual(asked.at(-1)?.position, [1, 2, 3], 'the goal of the text is drawn again');
    await answer(found());
    aim.dragTo({ position: [1, 2, 3.1], orientation: [0, 0, 0, 1] });
    aim.release();
    await answer({ success: false, message: 'The editor does not answer.' });
    await answer({ success: false, message: 'The editor does not answer.' });
    assert.equal(aim.said, 'Not taken: The editor does not answer.');
    assert.deepEqual(written, []);
    const outside = [{ joint: 1, value: 2.5, lower: -2, upper: 2 }];
    assert.equal(problemOf(found({ outside }), goal), 'j2 at 2.5000 rad, at most 2.0000 rad is allowed');
    assert.equal(
        problemOf(found({ lacks: [0.004, 0], outside }), goal),
        'out of reach by 4.00 mm; it would need j2 at 2.5000 rad, at most 2.0000 rad is allowed',
    );
    assert.deepEqual(
        [reaches(found()), reaches(found({ outside })), reaches(found({ lacks: [0, 1] }))],
        [true, false, false],
    );
});

test('E31 joints are dragged by sliders, and by the tool', async () => {
    const goal = goals({ position: [0.1, 0.2] })[0] as Goal;
    const { aim, asked, answer, written } = aimed(goal);
    aim.begin();
    assert.deepEqual(asked, [{ part: 'right', q: [0.1, 0.2] }]);
    await answer(found());
    aim.dragJoints([0.1, 0.5]);
    assert.deepEqual(aim.draggedJoints, [0.1, 0.5]);
    aim.release();
    await answer(found({ q: [0.1, 0.5] }));
    await answer(found({ q: [0.1, 0.5] }));
    assert.deepEqual(written, [{ joints: [0.1, 0.5] }]);
    aim.dragTo({ position: [1, 2, 3.1], orientation: [0, 0, 0, 1] });
    aim.release();
    await answer(found({ q: [0.3, 0.4] }));
    await answer(found({ q: [0.3, 0.4] }));
    assert.deepEqual(written[1], { joints: [0.3, 0.4] });
});

test('E31 steps go along and about the axes of the world, or of the tool', () => {
    const half = Math.SQRT1_2;
    const pose = { position: [1, 0, 0], orientation: [0, 0, half, half] }; // its x is the world's y
    const step = { label: '', metres: 0.01, degrees: 90 };
    const close = (a: number[], b: number[]): void => {
        for (const [i, each] of a.entries()) assert.ok(Math.abs(each - (b[i] ?? Number.NaN)) < 1e-12, `${a}`);
    };
    close(stepped(pose, step, 0, 1, false, false).position, [1.01, 0, 0]);
    close(stepped(pose, step, 0, -1, false, true).position, [1, -0.01, 0]);
    close(stepped(pose, step, 2, 1, true, false).orientation, [0, 0, 1, 0]);
    close(stepped(pose, step, 0, 1, true, false).orientation, [0.5, -0.5, 0.5, 0.5]);
    close(stepped(pose, step, 0, 1, true, true).orientation, [0.5, 0.5, 0.5, 0.5]);
});
