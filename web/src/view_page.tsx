// The page that shows the workcell alone, or a recording. It has nothing of the editor: its first picture does not wait
// for that.

import { lazy, Suspense } from 'react';

import { begin } from './begin.tsx';
import { open, Page } from './store/page.ts';
import { ViewPage } from './view/ViewPage.tsx';

const PastPage = lazy(async () => ({ default: (await import('./past/PastPage.tsx')).PastPage }));
const isPast = document.documentElement.dataset.shows === 'past';
begin(
    open(new Page()),
    isPast ? (
        <Suspense fallback={null}>
            <PastPage />
        </Suspense>
    ) : (
        <ViewPage />
    ),
);
