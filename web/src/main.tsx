import '@xyflow/react/dist/style.css';

import { begin } from './begin.tsx';
import { store } from './store/store.ts';
import { App } from './view/App.tsx';

begin(store, <App />);
