// What each page does first.

import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

import './style.css';
import './past/past.css';

import { loadLanguage, t } from './language/language.ts';
import type { Page } from './store/page.ts';

/** Draw the page, and enter by its link. */
export function begin(page: Page, drawn: ReactNode): void {
    void loadLanguage().then((problem) => {
        const root = document.getElementById('root');
        document.title = t(document.title);
        if (root) createRoot(root).render(drawn);
        if (problem !== '') page.talk.say(problem, true);
    });
    // A link of another start, opened in the same tab, changes the fragment alone.
    window.addEventListener('hashchange', () => {
        if (location.hash.includes('token=')) location.reload();
    });
    void page.enter();
}
