import assert from 'node:assert/strict';
import { test } from 'node:test';

import { node, page, say } from './page.ts';

const TOUR = 'name: tour\nlevel: blueprint\nnodes:\n  a: {wait: 1, then: b}\n  b: {wait: 2}\n';

test('what is live draws what shows it, and all else stays', () => {
    const { it } = page({});
    const seen: number[] = [];
    const leave = it.changes.subscribe(() => seen.push(it.changes.stillVersion));
    it.changes.tell(true);
    it.changes.tell();
    leave();
    it.changes.tell();
    assert.deepEqual([seen, it.changes.version], [[0, 1], 3]);
});

test('a text is edited, undone and redone; what is selected goes with its node', () => {
    const { it } = page({});
    it.docs.open(TOUR);
    it.docs.select(['a', 'b']);
    it.building.copy();
    it.building.paste('');
    assert.equal(it.docs.doc?.graph.nodes.length, 4);
    it.building.remove();
    assert.deepEqual([it.docs.doc?.graph.nodes.length, it.docs.doc?.selection], [2, []]);
    it.docs.undo();
    assert.equal(it.docs.doc?.graph.nodes.length, 4);
    it.docs.redo();
    assert.equal(it.docs.doc?.graph.nodes.length, 2);
    it.docs.open(TOUR, { readOnly: true });
    it.docs.setText('name: other\n');
    assert.equal(it.docs.doc?.history.text, TOUR);
    assert.match(it.talk.notice?.text ?? '', /^This version cannot be changed/);
});

test('mistakes are at their node and field, and warnings at their line', async () => {
    const refusal = { error: 'DefinitionError', what: "tour.yaml:4: node 'a': wait", expected: 'a number', got: 'x' };
    const { it, asked } = page({
        save_skill: {
            success: false,
            refusals: [{ ...refusal, hint: 'as 1.5', line: 4 }],
            nodes: ['a'],
            warnings: ["tour.yaml:5: node 'b' is not reached"],
        },
    });
    it.docs.open(TOUR);
    const checked = new Promise<void>((resolve) => {
        it.changes.subscribe(() => it.docs.doc?.checked === TOUR && resolve());
    });
    await checked;
    assert.ok(asked.every(({ name, request }) => name === 'save_skill' && request.check_only === true));
    assert.deepEqual(
        it.docs.doc?.mistakes.map(({ line, node: at, text, warning }) => [line, at, text, warning]),
        [
            [4, 'a', "node 'a': wait. expected a number; got x. as 1.5", false],
            [5, 'b', "node 'b' is not reached", true],
        ],
    );
});

test('a run is followed: its log, its nodes, its versions, and which graph of it is drawn', () => {
    const { it } = page({});
    it.docs.open(TOUR, { savedName: 'tour', basedOn: 2, savedText: TOUR });
    const nodes = [node({ does: 'tour' }), node({ path: 'a', does: 'wait' }), node({ run: 'r0', state: 'ended' })];
    say(it, { blueprints: { nodes } });
    assert.deepEqual([it.runs.run?.run, it.runs.log.run, it.runs.nodes.length], ['r1', 'r1', 1]);
    assert.equal(it.drawn.prefix, null, 'what runs is not known yet');
    const record = { what: 'run', tick: 1, time: 1, skill: 'tour', versions: { tour: 2 } };
    say(it, { log: { run: 'r1', first: 0, lines: [JSON.stringify(record)] } });
    assert.deepEqual([it.drawn.prefix, it.runs.running], ['', ['tour@2', 'wait']]);
    it.docs.setText(TOUR.replace('wait: 2', 'wait: 3'));
    assert.deepEqual([it.drawn.prefix, it.drawn.inRun], [null, true], 'another text runs');
    const behind = it.runs.nodes;
    say(it, { blueprints: { nodes: structuredClone(nodes) } });
    assert.equal(it.runs.nodes, behind, 'the same state is the same object: nothing is drawn anew');
    say(it, { log: { run: 'r0', first: 0, lines: ['{}'] } });
    assert.equal(it.runs.log.records.length, 1, 'the log of another run');
});

test('a text that was not answered is asked for again; one that is not there is not', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const answers: Record<string, object> = {};
    const { it, asked } = page(answers);
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const compared = async (): Promise<string> => {
        it.drawn.comparedWithProgram('touch@1');
        for (let i = 0; i < 10; i += 1) await settled();
        return it.drawn.comparedWithProgram('touch@1');
    };
    it.docs.open('name: touch\nactions: {}\n', { savedName: 'touch', basedOn: 2 });
    const times = (): number => asked.filter(({ name }) => name === 'list_programs').length;
    assert.deepEqual([await compared(), await compared()], ['pending', 'pending']);
    t.mock.timers.tick(1000);
    answers.list_programs = { programs: [{ text: 'name: touch\nactions: {}\n' }] };
    assert.deepEqual([await compared(), times()], ['same', 2]);

    const refusals = [{ error: 'DefinitionError', what: 'no version 3', expected: '', got: '', hint: '', line: 0 }];
    answers.list_programs = { success: false, refusals };
    it.drawn.comparedWithProgram('touch@3');
    for (let i = 0; i < 10; i += 1) await settled();
    t.mock.timers.tick(1000);
    assert.deepEqual([it.drawn.comparedWithProgram('touch@3'), times()], ['other', 3]);
});

test('a run starts from what is drawn, and a breakpoint goes to the graph and to its run', async () => {
    const { it, asked } = page({ run: {}, control: {} });
    const doc = it.docs.open(TOUR, { savedName: 'tour', basedOn: 2, savedText: TOUR });
    it.orders.toggleBreakpoint('b');
    await it.orders.start({ paused: true });
    it.docs.setText(TOUR.replace('wait: 2', 'wait: 3'));
    await it.orders.start({});
    const runs = asked.filter((each) => each.name === 'run').map((each) => each.request);
    assert.deepEqual(runs[0], { skill: 'tour@2', breakpoints: ['b'], paused: true });
    assert.deepEqual(runs[1]?.skill, it.docs.doc?.history.text, `${doc.savedName} is not what is drawn`);
    it.docs.undo();
    say(it, { blueprints: { nodes: [node({ does: 'tour', breakpoints: ['b'] })] } });
    const record = { what: 'run', tick: 1, time: 1, skill: 'tour', text: TOUR };
    say(it, { log: { run: 'r1', first: 0, lines: [JSON.stringify(record)] } });
    it.orders.toggleBreakpoint('b');
    assert.deepEqual(asked.at(-1)?.request, { command: 'breakpoints', run: 'r1', breakpoints: [] });
    assert.deepEqual(it.orders.breakpoints, { tour: [] });
});

test('what is saved is the next version; what somebody else saved first is shown beside it', async () => {
    const { it } = page({ save_skill: { name: 'tour', version: 3 } });
    it.docs.open(TOUR, { savedName: 'tour', basedOn: 2 });
    assert.equal(await it.versions.save(), true);
    assert.deepEqual([it.docs.doc?.basedOn, it.docs.doc?.savedText], [3, TOUR]);
    const other = page({
        save_skill: { success: false, message: 'overtaken', refusals: [{ error: 'Overtaken' }], overtaken: 'theirs' },
        list_skills: { skills: [{ version: 4 }] },
    });
    other.it.docs.open(TOUR, { savedName: 'tour', basedOn: 2 });
    assert.equal(await other.it.versions.save(), false);
    assert.deepEqual(other.it.talk.dialog, { kind: 'overtaken', text: 'theirs', version: 4 });
});

test('a refusal is said, and an operator who may operate is asked to take over', async () => {
    const { it } = page({ speed: { success: false, message: 'Eve operates: take over first' } });
    await it.me.do('speed', { speed: 0.5 });
    assert.deepEqual([it.talk.notice?.bad, it.talk.dialog], [true, null]);
    it.me.person = { id: 'me', name: 'Ann', may_operate: true };
    await it.me.do('speed', { speed: 0.5 });
    assert.equal(it.talk.dialog?.kind, 'take');
});
