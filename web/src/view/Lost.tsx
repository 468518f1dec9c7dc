import { shown as shownTime, whatIsLost } from '../lost.ts';
import { usePage } from '../store/page.ts';

/**
 * What is lost, stopped or suspended.
 * @param hasBlueprints whether the page shows any.
 */
export function Lost({ hasBlueprints }: { hasBlueprints: boolean }) {
    const it = usePage();
    const texts: string[] = [];
    if (!it.link.connected)
        texts.push(
            it.link.everConnected
                ? 'This page has lost the editor: what it shows may be old. A run goes on without it. STOP is ' +
                      'sent until the editor answers; if anything moves, use another stop.'
                : 'Connecting to the editor … STOP is sent until it answers.',
        );
    else if (it.link.silence > 0)
        texts.push(
            `No word from the editor for ${shownTime(it.link.silence)} s: what is shown is older. STOP is sent all ` +
                'the same.',
        );
    else texts.push(...whatIsLost(it.link.live, hasBlueprints));
    const stops = it.link.live.robot.stops ?? [];
    return (
        <>
            {texts.length > 0 && (
                <div className="lost" role="alert">
                    {texts.map((text) => (
                        <p key={text}>{text}</p>
                    ))}
                </div>
            )}
            {stops.length > 0 && (
                <div className="stops" role="alert">
                    <p>
                        Protective stop. Nothing starts before{' '}
                        {stops.length === 1 ? 'it is' : `all ${stops.length} are`} released:
                    </p>
                    <ul>
                        {stops.map((stop) => (
                            <li key={stop.source}>
                                <b>{stop.source}</b>
                                {stop.reason && `: ${stop.reason}`}
                                {stop.who && !stop.reason.includes(stop.who) && ` (${stop.who})`}
                                {stop.source !== 'editor' && (
                                    <span className="quiet">
                                        {' '}
                                        is released where it was made{stop.needs_secret && ', with its secret'}
                                    </span>
                                )}
                            </li>
                        ))}
                    </ul>
                </div>
            )}
            <Suspended />
        </>
    );
}

/** Sessions that a protective stop has suspended: a person resumes each, once nothing is latched any more. */
function Suspended() {
    const it = usePage();
    const sessions = (it.link.live.robot.programs ?? []).filter((each) => each.suspended);
    if (sessions.length === 0) return null;
    const which = sessions.length === 1 ? 'this session' : 'these sessions';
    const canResume = it.me.mayOperate && it.link.live.robot.protective_stop !== true;
    return (
        <div className="stops" role="alert">
            <p>
                Suspended by a protective stop: nothing of {which} starts until somebody resumes it. Runs of blueprints
                go on by Again or Next.
            </p>
            <ul>
                {sessions.map(({ session, program }) => (
                    <li key={session}>
                        <b>{session}</b>
                        {program && `: ${program}`}{' '}
                        {canResume && (
                            <button
                                className="small"
                                onClick={() =>
                                    void it.me.do(
                                        'resume',
                                        { session },
                                        `${session} is resumed. Nothing starts by itself.`,
                                    )
                                }>
                                Resume {session}
                            </button>
                        )}
                    </li>
                ))}
            </ul>
        </div>
    );
}
