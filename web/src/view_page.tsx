// The page that shows the workcell alone, or a recording. It has nothing of the editor: its first picture does not wait
// for that.

import { begin } from './begin.tsx';
import { PastPage } from './past/PastPage.tsx';
import { open, Page } from './store/page.ts';
import { ViewPage } from './view/ViewPage.tsx';

const isPast = document.documentElement.dataset.shows === 'past';
begin(open(new Page()), isPast ? <PastPage /> : <ViewPage />);
