// The page that shows the workcell alone. It has nothing of the editor: its first picture does not wait for that.

import { begin } from './begin.tsx';
import { open, Page } from './store/page.ts';
import { ViewPage } from './view/ViewPage.tsx';

begin(open(new Page()), <ViewPage />);
