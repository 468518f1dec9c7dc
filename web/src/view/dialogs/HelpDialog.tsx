import { store } from '../../store/store.ts';

const KEYS: [string, string][] = [
    ['/', 'find a skill; Enter adds it after the selected node'],
    ['Tab, Shift+Tab', 'go through nodes and links; Enter or Space selects'],
    ['arrow keys', 'move the selected node'],
    ['Enter on a selected node', 'its form'],
    ['M', 'menu of the selected node: start, jump, skip, breakpoint; arrow keys choose'],
    ['F2', 'rename the selected node'],
    ['Delete', 'remove the selection'],
    ['Ctrl+Z, Ctrl+Y', 'undo, redo'],
    ['Ctrl+C, Ctrl+V', 'copy and paste nodes as text'],
    ['Ctrl+A', 'select all nodes'],
    ['F', 'fold the selected nodes into one box; unfold the selected box'],
    ['Ctrl+G', 'make a skill of the selection'],
    ['Ctrl+F', 'find a node'],
    ['Ctrl+S', 'save'],
    ['Ctrl+E', 'picture or text'],
    ['Ctrl+Enter', 'start'],
    ['Alt+0', 'zoom to fit'],
    ['Ctrl+. or Pause', 'STOP, the protective stop: always, also while a dialog is open'],
    ['?', 'this help'],
];

export function HelpDialog() {
    return (
        <div>
            <h2>Keys</h2>
            <table className="keys">
                <tbody>
                    {KEYS.map(([key, what]) => (
                        <tr key={key}>
                            <th scope="row">
                                <kbd>{key}</kbd>
                            </th>
                            <td>{what}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <p>
                By mouse: drag a skill into the picture or onto a link; draw from a result at a node’s lower edge to the
                next node; Shift and drag selects several.
            </p>
            <div className="row end">
                <button className="primary" onClick={store.talk.close}>
                    Close
                </button>
            </div>
        </div>
    );
}
