// The page that shows a recording.

import { begin } from './begin.tsx';
import { PastPage } from './past/PastPage.tsx';
import { open, Page } from './store/page.ts';

begin(open(new Page()), <PastPage />);
