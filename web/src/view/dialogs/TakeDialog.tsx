import { usePage } from '../../store/page.ts';

export function TakeDialog() {
    const it = usePage();
    return (
        <div>
            <h2>{it.link.live.people.operator_name || 'Somebody'} operates the robot</h2>
            <p>Take over? They then watch, and this is logged. Stopping is open to all, also without it.</p>
            <div className="row end">
                <button onClick={it.talk.close}>No</button>
                <button
                    className="primary"
                    onClick={() => {
                        it.talk.close();
                        void it.me.do(
                            'operate',
                            { take: true, instead_of: it.link.live.people.operator },
                            'You operate now.',
                        );
                    }}>
                    Take over
                </button>
            </div>
        </div>
    );
}
