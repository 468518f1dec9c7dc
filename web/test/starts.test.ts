import assert from 'node:assert/strict';
import { test } from 'node:test';

import { setField } from '../src/text/blueprint_edits.ts';
import { readGraph } from '../src/text/graph.ts';
import { brief, placeOfMistake } from '../src/text/mistake_place.ts';
import { addStart, removeStart, renameEntry, START_KINDS, startsOf } from '../src/text/starts.ts';
import { data } from '../src/text/yaml_edit.ts';
import './kinds.ts';

const TEXT = `# kept
name: welcome
parameters: {guest: {type: text, default: you}}
commands:
  - {say: [welcome, 'receive {guest}']} # spoken
  - gesture: wave
    busy: wait
nodes:
  greet: {say: hello} # stays
`;

const of = (text: string) => startsOf(data(text) as Record<string, unknown>);

test('starts are read, added and removed, and all other lines stay', () => {
    assert.deepEqual(
        of(TEXT).map((each) => each.kinds),
        [['say'], ['gesture']],
    );
    for (const kind of START_KINDS) {
        const more = addStart(TEXT, kind);
        assert.deepEqual(of(more).at(-1)?.kinds, [kind]);
        const added = more.split('\n').filter((line) => !TEXT.split('\n').includes(line));
        assert.equal(added.length, 1, more);
        assert.equal(removeStart(more, 2), TEXT);
    }
    const none = removeStart(removeStart(TEXT, 1), 0);
    assert.equal(none, TEXT.replace(/commands:[\s\S]*?nodes:/, 'nodes:'));
    assert.deepEqual(of(addStart('name: a\n', 'gesture'))[0]?.content, { gesture: ['wave'] });
    assert.deepEqual(startsOf({ commands: 'nonsense' })[0]?.kinds, []);
});

test('a start by a message is filled in field by field', () => {
    let text = addStart(TEXT, 'topic');
    text = setField(text, ['commands', 2, 'topic', 'name'], '/door/face');
    text = setField(text, ['commands', 2, 'topic', 'texts', 'data'], ['anna', 'ben']);
    text = setField(text, ['commands', 2, 'busy'], 'wait');
    text = renameEntry(text, 2, 'texts', 'data', 'status[*].name');
    assert.deepEqual(of(text)[2]?.content, {
        topic: { name: '/door/face', type: 'std_msgs/msg/String', texts: { 'status[*].name': ['anna', 'ben'] } },
        busy: 'wait',
    });
    assert.equal(renameEntry(text, 2, 'texts', 'none', 'other'), text);
    text = setField(text, ['commands', 2, 'topic', 'texts', 'status[*].name'], undefined);
    assert.equal(Object.keys(of(text)[2]?.content.topic as object).join(), 'name,type');
    assert.ok(text.startsWith('# kept\n') && text.includes('# spoken') && text.includes('# stays'));
});

test('mistakes of starts, roles, outputs and limits are at their fields', () => {
    const graph = readGraph(`${TEXT}outputs: {d: {}}\nroles: {hand: {}}\nvalues: {n: {}}\n`);
    const at = (what: string) => placeOfMistake(graph, what).join('.');
    assert.equal(at("command 1: topic.type: type 'x' is not installed"), 'commands.1.topic.type');
    assert.equal(at("command 1: topic.texts.data: message: field 'data'"), 'commands.1.topic.texts.data');
    assert.equal(at("command 1: topic.parameters.guest: message: field 'x'"), 'commands.1.topic.parameters.guest');
    assert.equal(at('commands[1].topic.hold: wrong'), 'commands.1.topic.hold');
    assert.equal(at("gesture 'wave' starts 'other' already"), 'commands.1.gesture');
    assert.equal(at("phrase 'receive {guest}' starts 'other' already"), 'commands.0.say');
    assert.equal(at("output 'd': unknown $x"), 'outputs.d');
    assert.equal(at("role 'hand': unknown kind of part"), 'roles.hand');
    assert.equal(at("value 'n' has no first value"), 'values.n');
    assert.equal(at("parameter 'guest': choices"), 'parameters.guest');
    assert.equal(brief("command 1: topic.type: type 'x' is not installed"), "type 'x' is not installed");
});
