import { useEffect, useState } from 'react';

import { t } from '../language/language.ts';
import type { View } from '../scene/view.ts';
import { ask } from '../server.ts';
import { useStore } from '../store/store.ts';
import { isRecord } from '../text/graph.ts';
import { Choice } from '../view/plain_fields.tsx';
import { Aim, problemOf, reaches } from './aim.ts';
import { type Goal, goalsOfNode, hasValues, withValues } from './goals.ts';
import type { Pose } from './pose.ts';
import { AXES, type Step, stepped } from './steps.ts';

const STEPS: Step[] = [
    { label: '1 mm, 0.5°', metres: 0.001, degrees: 0.5 },
    { label: '10 mm, 5°', metres: 0.01, degrees: 5 },
    { label: '50 mm, 15°', metres: 0.05, degrees: 15 },
];
/** Key → axis and direction; with Shift about that axis. */
const KEYS: Record<string, [number, number]> = {
    ArrowRight: [0, 1],
    ArrowLeft: [0, -1],
    ArrowUp: [1, 1],
    ArrowDown: [1, -1],
    PageUp: [2, 1],
    PageDown: [2, -1],
};
/** [rad or m] Of a joint without limits. */
const FAR = 2 * Math.PI;

/** [rad or m] Of sliders, which stand at multiples of it. */
const FINE = 0.001;

/** Below the scene: the goals of the selected node, drawn as a ghost; handles, keys and sliders drag it. */
export function GoalPanel({ view }: { view: View }) {
    const it = useStore();
    const doc = it.docs.doc;
    const node = doc?.graph.nodes.find((each) => each.id === doc.selection[0]);
    const known = { parts: it.library.parts, skill: (name: string) => it.library.skill(name) };
    const roles = isRecord(doc?.graph.content.roles) ? doc.graph.content.roles : {};
    const goals = node && doc ? goalsOfNode(node, doc.graph.isProgram, roles, known) : [];
    const [chosen, setChosen] = useState('');
    const goal = goals.find((each) => each.key === chosen) ?? goals.find((each) => hasValues(each)) ?? goals[0] ?? null;
    const isEmpty = goal === null;
    useEffect(() => {
        if (isEmpty) view.hideGoal();
    }, [view, isEmpty]);
    useEffect(() => () => view.hideGoal(), [view]);
    if (!goal || !doc) return null;
    return (
        <section className="goal-panel" aria-label={t('The goal in the scene')}>
            <div className="row">
                <b>{t('Goal of {node}: {part}', { node: node?.id, part: goal.part.name })}</b>
                {goals.length > 1 && (
                    <Choice
                        hidden
                        label={t('Goal that is drawn')}
                        value={goal.key}
                        options={goals.map((each): [string, string] => [each.key, each.label])}
                        change={setChosen}
                    />
                )}
                {goals.length === 1 && <span className="quiet">{goal.label}</span>}
            </div>
            {goal.problem !== '' && <p className="hint">{goal.problem}</p>}
            {goal.problem === '' && !hasValues(goal) && (
                <p className="hint">
                    {t('It has no values yet. Take the present pose under Properties, then drag it here.')}
                </p>
            )}
            <Drawn
                key={`${goal.key} ${goal.part.name}`}
                view={view}
                goal={goal}
                mayDrag={it.me.mayOperate && !doc.readOnly}
            />
        </section>
    );
}

/** The goal as the server says that it would be. */
function Drawn({ view, goal, mayDrag }: { view: View; goal: Goal; mayDrag: boolean }) {
    const it = useStore();
    const [, drawAgain] = useState(0);
    const [turns, setTurns] = useState(false);
    const [inToolAxes, setInToolAxes] = useState(false);
    const [step, setStep] = useState(STEPS[1] as Step);
    const [said, setSaid] = useState('');
    const [aim, setAim] = useState<Aim | null>(null);
    const values = JSON.stringify([goal.values, goal.problem]);
    useEffect(() => {
        const made: Aim = new Aim(
            goal,
            (request) => ask('goal', request),
            () => {
                if (made.said !== '') setSaid(made.said);
                else if (made.isDragged) setSaid('');
                drawAgain((n) => n + 1);
            },
            (found) => {
                setSaid('');
                it.docs.edit((text) => withValues(text, goal, found));
            },
        );
        made.found = aim?.found ?? null; // until its first answer has come
        setAim(made);
        made.begin();
        return () => made.close();
    }, [values]);
    const found = hasValues(goal) && goal.problem === '' ? (aim?.found ?? null) : null;
    const { version } = view;
    useEffect(() => {
        if (!found || !aim) return view.hideGoal();
        const joints = new Map(found.joints.map((name, j) => [name, found.q[j] ?? Number.NaN]));
        const handles = {
            pose: found,
            turns,
            inToolAxes,
            dragged: (pose: Pose) => aim.dragTo(pose),
            released: () => aim.release(),
        };
        view.showGoal(goal.part.name, joints, !reaches(found), mayDrag && found.position ? handles : null);
    }, [view, version, aim, found, turns, inToolAxes, mayDrag]);
    const move = (axis: number, direction: number, isTurn: boolean): void => {
        if (!found?.position || !aim || !mayDrag) return;
        aim.moveBy((from) => stepped(from, step, axis, direction, isTurn, inToolAxes));
    };
    useEffect(() => {
        const section = view.canvas.closest('.robot-view');
        const press = (event: Event): void => {
            const { key, shiftKey, ctrlKey, altKey, metaKey, target } = event as KeyboardEvent;
            const [axis, direction] = KEYS[key] ?? [];
            if (axis === undefined || direction === undefined || ctrlKey || altKey || metaKey) return;
            if (target !== section || !mayDrag || !found?.position) return; // fields have their own arrows
            event.preventDefault();
            move(axis, direction, shiftKey);
        };
        section?.addEventListener('keydown', press);
        return () => section?.removeEventListener('keydown', press);
    });
    if (!found) return aim?.problem ? <p className="bad-hint">{aim.problem}</p> : null;
    const problem = problemOf(found, goal);
    const text = said || problem;
    const q = aim?.draggedJoints ?? found.q;
    return (
        <>
            <p className={text ? 'bad-hint' : 'good-line'} role="status" aria-label={t('Whether it can be reached')}>
                {text || t('The robot can be there.')}
            </p>
            {found.position && (
                <div className="row goal-pose">
                    <span className="number">
                        {found.position.map((value, i) => `${AXES[i]} ${value.toFixed(4)} m`).join('  ')}
                    </span>
                    {mayDrag && (
                        <>
                            <button aria-pressed={!turns} onClick={() => setTurns(false)}>
                                {t('Move')}
                            </button>
                            <button aria-pressed={turns} onClick={() => setTurns(true)}>
                                {t('Turn')}
                            </button>
                            <label>
                                <input
                                    type="checkbox"
                                    checked={inToolAxes}
                                    onChange={(event) => setInToolAxes(event.target.checked)}
                                />{' '}
                                {t('Tool’s axes')}
                            </label>
                            <Choice
                                hidden
                                label={t('Step size')}
                                value={step.label}
                                options={STEPS.map((each): [string, string] => [each.label, each.label])}
                                change={(label) => setStep(STEPS.find((each) => each.label === label) ?? step)}
                            />
                            {AXES.map((name, axis) =>
                                [-1, 1].map((direction) => (
                                    <button
                                        key={`${name}${direction}`}
                                        className="small"
                                        aria-label={t(turns ? 'Turn about {axis} {sign}' : 'Move along {axis} {sign}', {
                                            axis: name,
                                            sign: direction < 0 ? '−' : '+',
                                        })}
                                        onClick={() => move(axis, direction, turns)}>
                                        {name} {direction < 0 ? '−' : '+'}
                                    </button>
                                )),
                            )}
                        </>
                    )}
                </div>
            )}
            {goal.ofJoints && (
                <div className="goal-joints">
                    {goal.part.joint_names.map((name, j) => (
                        <label key={name}>
                            {name}{' '}
                            <input
                                type="range"
                                disabled={!mayDrag}
                                min={Math.ceil((goal.part.position_lower[j] ?? -FAR) / FINE) * FINE}
                                max={Math.floor((goal.part.position_upper[j] ?? FAR) / FINE) * FINE}
                                step={FINE}
                                value={q[j] ?? 0}
                                onChange={(event) =>
                                    aim?.dragJoints(q.map((each, i) => (i === j ? Number(event.target.value) : each)))
                                }
                                onPointerUp={() => aim?.release()}
                                onKeyUp={() => aim?.release()}
                                onBlur={() => aim?.release()}
                            />{' '}
                            <output>
                                {(q[j] ?? 0).toFixed(3)} {goal.part.joint_units[j]}
                            </output>
                        </label>
                    ))}
                </div>
            )}
        </>
    );
}
