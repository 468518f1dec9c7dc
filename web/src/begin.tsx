// What each page does first.

import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

import './style.css';
import './past/past.css';

import type { Page } from './store/page.ts';

/** Draw the page, and enter by its link. */
export function begin(page: Page, drawn: ReactNode): void {
    const root = document.getElementById('root');
    if (root) createRoot(root).render(drawn);
    // A link of another start, opened in the same tab, changes the fragment alone.
    window.addEventListener('hashchange', () => {
        if (location.hash.includes('token=')) location.reload();
    });
    void page.enter();
}
