import { t } from '../language/language.ts';
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
                ? t(
                      'This page has lost the editor: what it shows may be old. A run goes on without it. STOP is ' +
                          'sent until the editor answers; if anything moves, use another stop.',
                  )
                : t('Connecting to the editor … STOP is sent until it answers.'),
        );
    else if (it.link.silence > 0)
        texts.push(
            t('No word from the editor for {time} s: what is shown is older. STOP is sent all the same.', {
                time: shownTime(it.link.silence),
            }),
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
                        {t(
                            'Protective stop. Nothing starts before it is released:|' +
                                'Protective stop. Nothing starts before all {n} are released:',
                            { n: stops.length },
                        )}
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
                                        {t(
                                            stop.needs_secret
                                                ? 'is released where it was made, with its secret'
                                                : 'is released where it was made',
                                        )}
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
    const canResume = it.me.mayOperate && it.link.live.robot.protective_stop !== true;
    return (
        <div className="stops" role="alert">
            <p>
                {t(
                    'Suspended by a protective stop: nothing of this session starts until somebody resumes it.|' +
                        'Suspended by a protective stop: nothing of these sessions starts until somebody resumes it.',
                    { n: sessions.length },
                )}{' '}
                {t('Runs of blueprints go on by Again or Next.')}
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
                                        t('{session} is resumed. Nothing starts by itself.', { session }),
                                    )
                                }>
                                {t('Resume {session}', { session })}
                            </button>
                        )}
                    </li>
                ))}
            </ul>
        </div>
    );
}
