import { strict as assert } from 'node:assert';
import { test } from 'node:test';

import { differences } from '../src/text/differences.ts';

const shown = (before: string, after: string): string =>
    differences(before, after)
        .map(({ text, kind }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`)
        .join(',');

test('lines of two texts are the same, removed or added, in order', () => {
    assert.equal(shown('a\nb\nc', 'a\nc\nd'), ' a,-b, c,+d');
    assert.equal(shown('a', 'b'), '-a,+b');
    assert.equal(shown('a\nb', 'a\nb'), ' a, b');
});
