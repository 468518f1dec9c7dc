import type { ReactNode } from 'react';

import { t } from '../language/language.ts';
import { useStillPage } from '../store/page.ts';
import { Boundary } from './Boundary.tsx';

/**
 * What a page shows once the editor knows it; before that, or instead of it, why not.
 * @param remark beside a refusal.
 * @param draws the page is drawn already while it enters.
 */
export function Entered({
    title,
    remark = '',
    draws = false,
    children,
}: {
    title: string;
    remark?: string;
    draws?: boolean;
    children: ReactNode;
}) {
    const it = useStillPage();
    if (it.me.refused !== '') {
        return (
            <main className="refused">
                <h1>{title}</h1>
                <p role="alert">{it.me.refused}</p>
                {remark !== '' && <p>{remark}</p>}
                <p>{t('STOP works from here as well.')}</p>
            </main>
        );
    }
    if (!it.me.person && !draws)
        return (
            <main className="refused">
                <p>{t('Connecting …')}</p>
            </main>
        );
    return <Boundary>{children}</Boundary>;
}
