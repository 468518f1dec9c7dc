import { later, t } from '../../language/language.ts';
import { store } from '../../store/store.ts';

const KEYS: [string, string][] = [
    ['/', later('find a skill; Enter adds it after the selected node')],
    [later('Tab, Shift+Tab'), later('go through nodes and links; Enter or Space selects')],
    [later('arrow keys'), later('move the selected node')],
    [later('Enter on a selected node'), later('its form')],
    ['M', later('menu of the selected node: start, jump, skip, breakpoint; arrow keys choose')],
    ['F2', later('rename the selected node')],
    [later('Delete'), later('remove the selection')],
    [later('Ctrl+Z, Ctrl+Y'), later('undo, redo')],
    [later('Ctrl+C, Ctrl+V'), later('copy and paste nodes as text')],
    [later('Ctrl+A'), later('select all nodes')],
    ['F', later('fold the selected nodes into one box; unfold the selected box')],
    [later('Ctrl+G'), later('make a skill of the selection')],
    [later('Ctrl+F'), later('find a node')],
    [later('Ctrl+S'), later('save')],
    [later('Ctrl+E'), later('picture or text')],
    [later('Ctrl+Enter'), later('start')],
    ['Alt+0', later('zoom to fit')],
    [later('Ctrl+. or Pause'), later('STOP, the protective stop: always, also while a dialog is open')],
    ['?', later('this help')],
];

export function HelpDialog() {
    return (
        <div>
            <h2>{t('Keys')}</h2>
            <table className="keys">
                <tbody>
                    {KEYS.map(([key, what]) => (
                        <tr key={key}>
                            <th scope="row">
                                <kbd>{t(key)}</kbd>
                            </th>
                            <td>{t(what)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <p>
                {t(
                    'By mouse: drag a skill into the picture or onto a link; ' +
                        'draw from a result at a node’s lower edge to the ' +
                        'next node; Shift and drag selects several.',
                )}
            </p>
            <div className="row end">
                <button className="primary" onClick={store.talk.close}>
                    {t('Close')}
                </button>
            </div>
        </div>
    );
}
