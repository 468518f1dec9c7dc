import { createRoot } from 'react-dom/client';

import '@xyflow/react/dist/style.css';
import './style.css';

import { store } from './store.ts';
import { App } from './view/App.tsx';

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
void store.enter();
