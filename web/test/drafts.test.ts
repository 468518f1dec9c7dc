import assert from 'node:assert/strict';
import { test } from 'node:test';

import { adopted, type Draft } from '../src/store/drafts.ts';

function draft(savedName: string, text: string, savedText = 'old'): Draft {
    return { savedName, text, savedText, basedOn: 1, readOnly: false };
}

test('E18 what pages left that are gone is opened, and nothing twice', () => {
    const mine = draft('tour', 'mine');
    assert.deepEqual(
        adopted([mine], [draft('tour', 'theirs'), mine, draft('tour', 'theirs')]),
        [draft('tour', 'theirs')],
        'both are kept',
    );
    assert.deepEqual(adopted([mine], [draft('nap', 'old')]), [], 'what was not changed is in the store');
    assert.deepEqual(adopted([], [draft('nap', 'old'), draft('', 'new', '')]), [
        draft('nap', 'old'),
        draft('', 'new', ''),
    ]);
});
