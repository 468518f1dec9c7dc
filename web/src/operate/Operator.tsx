import { useState } from 'react';
import { t } from '../language/language.ts';
import { usePage } from '../store/page.ts';

/** Who operates, and how one takes over. */
export function Operator() {
    const it = usePage();
    const { operator, operator_name: name } = it.link.live.people;
    const isAway = operator !== '' && !it.link.live.people.here.some((person) => person.id === operator);
    return (
        <>
            {it.me.operates ? (
                <span className="chip good">{t('You operate')}</span>
            ) : (
                <span className="chip">
                    {operator === ''
                        ? t('Nobody operates')
                        : t(isAway ? '{name} operates, but has no page open' : '{name} operates', { name })}
                </span>
            )}
            {!it.me.operates && it.me.mayOperate && (
                <button onClick={() => void it.me.operate()}>{t(operator === '' ? 'Operate' : 'Take over')}</button>
            )}
            {it.me.operates && (
                <button onClick={() => void it.me.do('operate', { take: false })}>{t('Give back')}</button>
            )}
            {!it.me.mayOperate && <span className="chip">{t('This link may watch and stop')}</span>}
        </>
    );
}

/** The speed of the workcell: time passes more slowly for all actions. */
export function Speed() {
    const it = usePage();
    const [speed, setSpeed] = useState<number | null>(null);
    const shown = speed ?? it.link.live.robot.speed ?? 1;
    const set = (): void => {
        if (speed !== null) void it.me.do('speed', { speed }).then(() => setSpeed(null));
    };
    return (
        <label className="speed">
            {t('Speed')}{' '}
            <input
                type="range"
                min={0}
                max={1}
                step={0.05}
                value={shown}
                disabled={!it.me.mayOperate}
                onChange={(event) => setSpeed(Number(event.target.value))}
                onPointerUp={set}
                onKeyUp={set}
            />{' '}
            <output>{Math.round(shown * 100)} %</output>
        </label>
    );
}

/** Releases the stop of the pages, if it is latched. */
export function Release() {
    const it = usePage();
    const robot = it.link.live.robot;
    const stopped = robot.protective_stop === true || it.link.live.blueprints.protective_stop === true;
    if (!stopped || !it.stop.isLatched || !it.me.mayOperate) return null;
    return (
        <button
            className="release"
            onClick={() => void it.me.do('protective_stop', { stop: false }, t('Released. Nothing starts by itself.'))}>
            {t('Release the protective stop')}
        </button>
    );
}
