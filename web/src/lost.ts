import { t } from './language/language.ts';
import type { Live } from './wire.ts';

/**
 * What the page says of those that it cannot reach or has not heard for a while, in whole sentences.
 * @param hasBlueprints whether it shows any.
 */
export function whatIsLost(live: Live, hasBlueprints = true): string[] {
    const texts: string[] = [];
    const { executor, blueprints } = live.robot.silent ?? {};
    if (executor !== undefined) {
        texts.push(
            t(
                'No word from the robot’s real-time executor for {time} s: what is shown is older. STOP ' +
                    'is still sent to it and to the control server. If its process has died, the drivers bring their ' +
                    'devices to rest by themselves; if anything moves, use the emergency stop.',
                { time: shown(executor) },
            ),
        );
    } else if (live.robot.executor === false)
        texts.push(t('The robot’s real-time executor cannot be reached: what is shown may be old.'));
    if (!hasBlueprints) return texts;
    if (blueprints !== undefined) {
        texts.push(
            t(
                'No word from the blueprint executor for {time} s: nothing can be started, and what is ' +
                    'shown is older. STOP does not need it. If it has died, the parts of its runs come to rest.',
                { time: shown(blueprints) },
            ),
        );
    } else if (live.robot.blueprints === false) {
        // Its state is latched: without one, no executor was there since the editor's server began.
        texts.push(
            live.blueprints.nodes === undefined
                ? t(
                      'The blueprint executor is not running: nothing can be started. Start it with the workcell, by ' +
                          '{launch} or {command}.',
                      {
                          launch: 'ros2 launch robot_rt_control workcell.launch.py … blueprints:=true',
                          command: 'robot-rt-control-workcell … --blueprints',
                      },
                  )
                : t(
                      'The blueprint executor is lost: nothing can be started, and what is shown may be old. If it ' +
                          'has died, the parts of its runs come to rest.',
                  ),
        );
    }
    if (live.blueprints.problem) texts.push(live.blueprints.problem);
    return texts;
}

/** Tenths below a second, then whole ones. */
export function shown(seconds: number): string {
    return seconds < 1 ? seconds.toFixed(1) : String(Math.floor(seconds));
}
