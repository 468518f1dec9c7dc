// Loaded when a timeline is opened.

export { LiveSource } from './live.ts';
export { Panel } from './panel.ts';
export { RecordedSource } from './recorded.ts';
