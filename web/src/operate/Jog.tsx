import { useEffect, useMemo, useRef, useState } from 'react';
import { later, t } from '../language/language.ts';
import { ask } from '../server.ts';
import { usePage } from '../store/page.ts';
import { Choice } from '../view/plain_fields.tsx';
import type { PartInfo } from '../wire.ts';
import { Hold, type Motion } from './hold.ts';
import { hasTool } from './parts.ts';
import { jointVariables, listOf, listText, poseVariables, shownNumber } from './present.ts';

/** [ms] for an answer to a sign of life, the first of which may wait for the workcell. */
const PATIENCE_MS = 5000;
/** At 100 %, and at most: editor/jogs.py. */
const TOOL = { linear: 0.5, angular: 2, fastest: 0.2 };
const AXES = ['x', 'y', 'z', 'rx', 'ry', 'rz'];
const FRAMES: [string, string][] = [
    ['world', later('the world')],
    ['base', later('its base')],
    ['tool', later('the tool')],
];

/** A motion without its part and speed. */
type Direction = { direction: number } & ({ joint: number } | { axis: string });

/** What holds a button now. It lets go whenever this page is not what somebody looks at and operates with. */
function useHold(): Hold {
    const it = usePage();
    const hold = useMemo(
        () =>
            new Hold(
                (request) => ask('jog', request, PATIENCE_MS),
                (why) => {
                    if (why !== '') it.talk.say(why, true);
                    else it.changes.tell();
                },
            ),
        [],
    );
    useEffect(() => {
        const letGo = (): void => hold.release();
        const hidden = (): void => {
            if (document.hidden) letGo();
        };
        window.addEventListener('blur', letGo);
        window.addEventListener('pagehide', letGo);
        document.addEventListener('visibilitychange', hidden);
        return () => {
            window.removeEventListener('blur', letGo);
            window.removeEventListener('pagehide', letGo);
            document.removeEventListener('visibilitychange', hidden);
            letGo();
        };
    }, []);
    const isLost = !it.link.connected || it.link.silence > 0 || !it.me.operates || it.isPast;
    const isStopped = it.link.live.robot.protective_stop === true;
    useEffect(() => {
        if (isLost || isStopped) hold.release();
    }, [isLost, isStopped]);
    return hold;
}

/** The joints and the tool of a part: where they are, and buttons that move them while they are held. */
export function Jog({ part }: { part: PartInfo }) {
    const it = usePage();
    const hold = useHold();
    const [percent, setPercent] = useState(10);
    const [frame, setFrame] = useState('world');
    const values = it.link.live.robot.values ?? {};
    const state = it.link.live.robot.parts?.find((each) => each.name === part.name)?.operational_state;
    const speed = percent / 100;
    const tool = Math.min(speed, TOOL.fastest);
    const whyNot = it.isPast
        ? t('The picture shows the past: jogging goes on once it shows what is now.')
        : state !== 'enabled'
          ? t('{part} is {state}: it can be jogged once it is enabled.', {
                part: part.name,
                state: t(state ?? 'not known'),
            })
          : it.link.live.robot.protective_stop
            ? t('A protective stop is latched.')
            : '';
    const press = (motion: Direction): string => {
        const named = 'axis' in motion ? { ...motion, frame } : motion;
        return hold.press({ ...named, part: part.name, speed } as Motion);
    };
    const pair = (label: string, motion: (direction: number) => Direction) => (
        <>
            {[-1, 1].map((direction) => (
                <HeldButton
                    key={direction}
                    label={`${label} ${direction < 0 ? '−' : '+'}`}
                    shown={direction < 0 ? '−' : '+'}
                    disabled={whyNot !== '' || !it.me.operates}
                    press={() => press(motion(direction))}
                    release={(id) => hold.release(id)}
                    held={hold.id}
                />
            ))}
        </>
    );
    const joints = jointVariables(part);
    const pose = poseVariables(part);
    return (
        <>
            {it.me.mayOperate && (
                <>
                    {whyNot !== '' && <p className="warning">{whyNot}</p>}
                    {whyNot === '' && !it.me.operates && (
                        <p className="hint">{t('Who operates can jog: take over first.')}</p>
                    )}
                    <label className="speed">
                        {t('Jog at')}{' '}
                        <input
                            type="range"
                            min={1}
                            max={50}
                            value={percent}
                            onChange={(event) => setPercent(Number(event.target.value))}
                        />{' '}
                        <output>{percent} %</output>
                    </label>
                    <p className="hint">
                        {t('{percent} % of the joints’ limits, no faster than a joint can stop at once', { percent })}
                        {hasTool(part) &&
                            t('; tool {linear} m/s, {angular} rad/s', {
                                linear: (tool * TOOL.linear).toFixed(2),
                                angular: (tool * TOOL.angular).toFixed(2),
                            })}
                        {t('. Hold a button by mouse, touch or the space bar; it stops when you let go.')}
                    </p>
                </>
            )}
            <table className="jog" aria-label={t('Joints of {part}', { part: part.name })}>
                <tbody>
                    {part.joint_names.map((name, j) => (
                        <tr key={name}>
                            <th scope="row">{name}</th>
                            <td className="number">{shownNumber(values[joints[j] ?? ''])}</td>
                            <td>{part.joint_units[j]}</td>
                            {it.me.mayOperate && <td>{pair(name, (direction) => ({ joint: j, direction }))}</td>}
                        </tr>
                    ))}
                </tbody>
            </table>
            {it.me.mayOperate && hasTool(part) && (
                <Guide
                    part={part}
                    disabled={whyNot !== '' || !it.me.operates}
                    press={() => hold.press({ part: part.name, by_hand: true })}
                    release={(id) => hold.release(id)}
                    held={hold.id}
                />
            )}
            <Copy label={t('Copy the joints')} text={() => textOf(listOf(joints, values))} />
            {hasTool(part) && (
                <>
                    {it.me.mayOperate && (
                        <Choice
                            label={t('Tool in the axes of')}
                            value={frame}
                            options={FRAMES.map(([key, text]) => [key, t(text)])}
                            change={setFrame}
                        />
                    )}
                    <table className="jog" aria-label={t('Tool of {part}', { part: part.name })}>
                        <tbody>
                            {AXES.slice(0, it.me.mayOperate ? 6 : 3).map((axis, i) => (
                                <tr key={axis}>
                                    <th scope="row">{axis}</th>
                                    <td className="number">{i < 3 && shownNumber(values[pose.position[i] ?? ''])}</td>
                                    <td>{i < 3 ? 'm' : ''}</td>
                                    {it.me.mayOperate && <td>{pair(axis, (direction) => ({ axis, direction }))}</td>}
                                </tr>
                            ))}
                        </tbody>
                    </table>
                    <p className="hint">
                        {t('Position in the world; orientation (x, y, z, w):')}{' '}
                        {pose.orientation.map((name) => shownNumber(values[name])).join(', ')}
                    </p>
                    <Copy
                        label={t('Copy the tool’s pose')}
                        text={() => {
                            const position = listOf(pose.position, values);
                            const orientation = listOf(pose.orientation, values);
                            if (!position || !orientation) return '';
                            return `{position: ${listText(position)}, orientation: ${listText(orientation)}}`;
                        }}
                    />
                </>
            )}
        </>
    );
}

function textOf(numbers: number[] | null): string {
    return numbers ? listText(numbers) : '';
}

function Copy({ label, text }: { label: string; text: () => string }) {
    const it = usePage();
    const copy = async (): Promise<void> => {
        const found = text();
        if (found === '') return it.talk.say(t('Where the part is is not known yet.'), true);
        try {
            await navigator.clipboard.writeText(found);
            it.talk.say(t('Copied: {text}', { text: found }));
        } catch {
            it.talk.say(found); // a page without a certificate may not copy
        }
    };
    return (
        <button className="small" onClick={() => void copy()}>
            {label}
        </button>
    );
}

/** While its button is held, the arm carries its own weight alone, and follows the hand that pushes it. */
function Guide({
    part,
    ...button
}: {
    part: PartInfo;
    disabled: boolean;
    press: () => string;
    release: (id: string) => void;
    held: string;
}) {
    if (!part.command_modes.includes('effort'))
        return (
            <p className="hint">
                {t('{part} cannot be guided by hand: its hardware takes no efforts.', { part: part.name })}
            </p>
        );
    const label = t('Guide {part} by hand', { part: part.name });
    return (
        <>
            <HeldButton {...button} label={label} shown={label} isWide />
            <p className="hint">
                {t(
                    'While it is held, the arm carries its own weight and what its tool is known to weigh, ' +
                        'and follows ' +
                        'your hand slowly. It sinks or rises if that is wrong. Let go, and it brakes and holds.',
                )}
            </p>
        </>
    );
}

/** Held by mouse, pen, touch, or the space bar or Enter. */
function HeldButton({
    label,
    shown,
    disabled,
    press,
    release,
    held,
    isWide = false,
}: {
    label: string;
    shown: string;
    isWide?: boolean;
    disabled: boolean;
    press: () => string;
    release: (id: string) => void;
    /** The press that is held: this button's, another one's, or none. */
    held: string;
}) {
    const id = useRef('');
    const isHeld = id.current !== '' && id.current === held;
    const begin = (): void => {
        if (disabled || id.current !== '') return;
        id.current = press();
    };
    const end = (): void => {
        if (id.current !== '') release(id.current);
        id.current = '';
    };
    useEffect(() => {
        if (disabled) end();
    }, [disabled]);
    useEffect(() => end, []);
    return (
        <button
            className={`held-button ${isHeld ? 'held' : ''} ${isWide ? 'wide' : ''}`}
            aria-label={label}
            aria-pressed={isHeld}
            disabled={disabled}
            onPointerDown={(event) => {
                if (event.button !== 0) return;
                event.currentTarget.setPointerCapture(event.pointerId);
                begin();
            }}
            onPointerUp={end}
            onPointerCancel={end}
            onLostPointerCapture={end}
            onContextMenu={(event) => event.preventDefault()}
            onKeyDown={(event) => {
                if (event.key !== ' ' && event.key !== 'Enter') return;
                event.preventDefault();
                if (!event.repeat) begin();
            }}
            onKeyUp={end}
            onBlur={end}>
            {shown}
        </button>
    );
}
