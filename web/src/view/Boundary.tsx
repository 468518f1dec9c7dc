import { Component, type ReactNode } from 'react';

import { t } from '../language/language.ts';

/** What fails within it, or cannot be loaded, is replaced by why: the rest of the page, and its STOP, stay. */
export class Boundary extends Component<{ children: ReactNode }, { problem: string | null }> {
    override state = { problem: null };

    static getDerivedStateFromError(error: unknown): { problem: string } {
        return { problem: error instanceof Error ? error.message : String(error) };
    }

    override render(): ReactNode {
        const { problem } = this.state;
        if (problem === null) return this.props.children;
        return (
            <p className="robot-problem" role="alert">
                {t('This part of the page failed; load the page again: {why}', { why: problem })}
            </p>
        );
    }
}
