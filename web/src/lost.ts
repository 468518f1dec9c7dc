import type { Live } from './server.ts';

/** What the page says of those that it cannot reach, in whole sentences. */
export function whatIsLost(live: Live): string[] {
    const texts: string[] = [];
    if (live.robot.executor === false) texts.push('The robot’s real-time executor cannot be reached: what is shown may be old.');
    if (live.robot.blueprints === false) {
        // Its state is latched: without one, no executor was there since the editor's server began.
        texts.push(live.blueprints.nodes === undefined
            ? 'The blueprint executor is not running: nothing can be started. Start it with the workcell, by ros2 launch robot_rt_control workcell.launch.py … blueprints:=true or robot-rt-control-workcell … --blueprints.'
            : 'The blueprint executor is lost: nothing can be started, and what is shown may be old. If it has died, the parts of its runs come to rest.');
    }
    if (live.blueprints.problem) texts.push(live.blueprints.problem);
    return texts;
}
