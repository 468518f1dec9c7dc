// What the panel needs of the workcell: parts with their limits and sessions, and types of actions.

import { useEffect, useState } from 'react';

import { ask } from '../server.ts';
import type { ActionType, Answer, PartInfo } from '../wire.ts';

/** [ms] Between two looks at which session holds which part. */
const AGAIN_MS = 2000;

export interface Workcell {
    parts: PartInfo[];
    types: ActionType[];
}

/** Asked for again and again while it is shown, and the page is seen. */
export function useWorkcell(): Workcell {
    const [parts, setParts] = useState<PartInfo[]>([]);
    const [types, setTypes] = useState<ActionType[]>([]);
    useEffect(() => {
        let closed = false;
        let timer: ReturnType<typeof setTimeout> | undefined;
        let known = false;
        const look = async (): Promise<void> => {
            if (!document.hidden) {
                const found = await ask<Answer & { parts?: PartInfo[] }>('parts');
                const of: { action_types?: ActionType[] } = known
                    ? {}
                    : await ask<Answer & { action_types?: ActionType[] }>('action_types');
                if (closed) return;
                if (found.parts) setParts(found.parts);
                if (of.action_types) {
                    known = true;
                    setTypes(of.action_types);
                }
            }
            if (!closed) timer = setTimeout(() => void look(), AGAIN_MS);
        };
        void look();
        return () => {
            closed = true;
            clearTimeout(timer);
        };
    }, []);
    return { parts, types };
}

/** Whether it can be jogged; the editor's server has the same rule (editor/jogs.py). */
export function hasJoints(part: PartInfo): boolean {
    return part.joint_names.length > 0 && part.command_modes.includes('position');
}

export function hasTool(part: PartInfo): boolean {
    return hasJoints(part) && part.kind === 'arm';
}
