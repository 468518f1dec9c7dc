import { useStill } from '../store/store.ts';
import { EXAMPLES } from '../text/examples.ts';

/** What the page shows while nothing is open. */
export function Welcome() {
    const it = useStill();
    if (it.me.onlyWatches)
        return (
            <div className="welcome">
                <h2>Watch what the robot does</h2>
                <p>Open a blueprint under Files, or a run of the past under Runs. Whatever runs is under Run.</p>
            </div>
        );
    return (
        <div className="welcome">
            <h2>Draw what the robot shall do</h2>
            <p>A blueprint is a picture of nodes. Each node is a skill of the robot; the links say what comes next.</p>
            <button className="primary" onClick={() => it.talk.show({ kind: 'new' })}>
                New blueprint
            </button>
            <p>Or open one from the left, or an example:</p>
            <Examples />
        </div>
    );
}

/** Three blueprints to begin with. */
export function Examples() {
    const it = useStill();
    return (
        <div className="examples">
            {EXAMPLES.map((example) => (
                <div key={example.title} className="skill-row level-blueprint">
                    <button
                        className="skill-item"
                        title={example.description}
                        onClick={() => it.docs.open(example.text)}>
                        <span className="skill-name">{example.title}</span>
                        <span className="skill-description">{example.description}</span>
                    </button>
                </div>
            ))}
        </div>
    );
}

/** What to do with a picture in which nothing is yet. */
export function FirstSteps({ isProgram }: { isProgram: boolean }) {
    const it = useStill();
    if (it.docs.doc?.readOnly) return <div className="banner">Nothing is in it yet.</div>;
    return (
        <div className="first-steps">
            <h2>Nothing is here yet</h2>
            <ol>
                <li>
                    Find {isProgram ? 'an action' : 'a skill'} on the left. Press its +, or drag it here: it becomes{' '}
                    {isProgram ? 'a state' : 'a node'}.
                </li>
                <li>Fill in its form on the right.</li>
                <li>Add the next one: it follows. Or draw from the lower edge of one to another.</li>
                {!isProgram && <li>Under Run, press Start.</li>}
            </ol>
            <div className="row">
                <button className="primary" onClick={() => window.dispatchEvent(new Event('show-skills'))}>
                    Find {isProgram ? 'an action' : 'a skill'}
                </button>
            </div>
        </div>
    );
}
