import { createRoot } from 'react-dom/client';

import '@xyflow/react/dist/style.css';
import './style.css';

import { store } from './store/store.ts';
import { App, IS_VIEW } from './view/App.tsx';

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
// A link of another start, opened in the same tab, changes the fragment alone.
window.addEventListener('hashchange', () => {
    if (location.hash.includes('token=')) location.reload();
});
void store.enter(IS_VIEW);
