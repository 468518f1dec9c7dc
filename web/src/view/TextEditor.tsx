import {
    autocompletion,
    type CompletionContext,
    type CompletionResult,
    completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { t } from '../language/language.ts';
import { store, useStill } from '../store/store.ts';

const COLORS = HighlightStyle.define([
    { tag: tags.propertyName, color: '#1e40af' },
    { tag: tags.definition(tags.propertyName), color: '#1e40af' },
    { tag: tags.comment, color: '#57606a', fontStyle: 'italic' },
    { tag: tags.string, color: '#166534' },
    { tag: tags.number, color: '#9a3412' },
    { tag: tags.bool, color: '#9a3412' },
]);

const THEME = EditorView.theme({
    '&': { height: '100%', fontSize: '13.5px', backgroundColor: '#ffffff', color: '#0f172a' },
    '.cm-scroller': { fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, monospace', lineHeight: '1.55' },
    '.cm-gutters': { backgroundColor: '#f8fafc', color: '#52606d', border: 'none' },
    '&.cm-focused': { outline: '2px solid #2563eb', outlineOffset: '-2px' },
    '.cm-activeLine': { backgroundColor: '#f1f5f966' },
});

/** A command of a key that always applies. */
function done(act: () => void): () => boolean {
    return () => {
        act();
        return true;
    };
}

function complete(context: CompletionContext): CompletionResult | null {
    const word = context.matchBefore(/[$\w.]*/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    const line = context.state.doc
        .lineAt(context.pos)
        .text.slice(0, context.pos - context.state.doc.lineAt(context.pos).from);
    const names = /skill:\s*[\w@]*$/.test(line)
        ? store.library.skills.map((skill) => ({ label: skill.name, detail: skill.level }))
        : /(go|start):\s*\w*$/.test(line) || /then:\s*\w*$/.test(line)
          ? (store.docs.doc?.shown.nodes ?? []).map((node) => ({ label: node.id, detail: t('node') }))
          : store.library.completions(true).map(({ name, hint }) => ({ label: name, detail: hint }));
    return { from: word.from, options: names, validFor: /^[$\w.]*$/ };
}

/** The text. In a shadow root, where its styles need no inline style elements, which the content policy forbids. */
export function TextEditor() {
    const it = useStill();
    const host = useRef<HTMLDivElement>(null);
    const view = useRef<EditorView | null>(null);
    const doc = it.docs.doc;
    const key = doc?.key ?? -1;
    const typing = useRef({ mark: 0, at: 0 });

    useEffect(() => {
        const element = host.current;
        if (!element) return;
        const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
        root.replaceChildren();
        const box = document.createElement('div');
        box.style.height = '100%';
        root.append(box);
        const state = EditorState.create({
            doc: store.docs.doc?.history.text ?? '',
            extensions: [
                lineNumbers(),
                lintGutter(),
                drawSelection(),
                highlightActiveLine(),
                bracketMatching(),
                indentOnInput(),
                highlightSelectionMatches(),
                yaml(),
                syntaxHighlighting(COLORS),
                THEME,
                EditorView.lineWrapping,
                autocompletion({ override: [complete] }),
                EditorState.readOnly.of(store.docs.doc?.readOnly ?? false),
                EditorView.contentAttributes.of({ 'aria-label': t('Text of the blueprint') }),
                keymap.of([
                    { key: 'Mod-z', run: done(() => store.docs.undo()) },
                    { key: 'Mod-y', run: done(() => store.docs.redo()) },
                    { key: 'Mod-Shift-z', run: done(() => store.docs.redo()) },
                    { key: 'Mod-s', run: done(() => void store.versions.save()) },
                    ...completionKeymap,
                    ...searchKeymap,
                    ...defaultKeymap,
                    indentWithTab,
                ]),
                EditorView.updateListener.of((update) => {
                    if (!update.docChanged) return;
                    const text = update.state.doc.toString();
                    if (text === store.docs.doc?.history.text) return;
                    const now = Date.now();
                    if (now - typing.current.at > 1000) typing.current.mark += 1; // a pause begins another step
                    typing.current.at = now;
                    store.docs.setText(text, `typing ${typing.current.mark}`);
                }),
            ],
        });
        const made = new EditorView({ state, parent: box, root });
        view.current = made;
        made.focus();
        return () => {
            made.destroy();
            view.current = null;
        };
    }, [key]);

    const text = doc?.history.text ?? '';
    useEffect(() => {
        const editor = view.current;
        if (!editor) return;
        const now = editor.state.doc.toString();
        if (now === text) return;
        let from = 0;
        while (from < Math.min(now.length, text.length) && now[from] === text[from]) from += 1;
        let tail = 0;
        while (
            tail < Math.min(now.length, text.length) - from &&
            now[now.length - 1 - tail] === text[text.length - 1 - tail]
        )
            tail += 1;
        editor.dispatch({ changes: { from, to: now.length - tail, insert: text.slice(from, text.length - tail) } });
    }, [text]);

    const mistakes = doc?.mistakes;
    const checked = doc?.checked;
    useEffect(() => {
        const editor = view.current;
        if (!editor || !mistakes || checked !== editor.state.doc.toString()) return;
        editor.dispatch(
            setDiagnostics(
                editor.state,
                mistakes.map((mistake) => {
                    const line = editor.state.doc.line(Math.min(Math.max(mistake.line, 1), editor.state.doc.lines));
                    const indent = line.text.search(/\S|$/);
                    return {
                        from: line.from + indent,
                        to: line.to,
                        severity: mistake.warning ? 'warning' : 'error',
                        message: mistake.text,
                    };
                }),
            ),
        );
    }, [mistakes, checked, text]);

    return <div className="text-editor" ref={host} data-testid="text" />;
}
