// Chooses a variable by typing: a field with a list below it, as the pattern "combobox" of ARIA has it.

import { t } from '../language/language.ts';
import type { Plottable } from './source.ts';

const MOST_SHOWN = 40;

/** Those with all words in their names or descriptions: names that begin with the first word come first. */
export function matching(text: string, all: readonly Plottable[]): Plottable[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const begins = words[0] ?? '';
    const found = all.filter((each) => {
        const searched = `${each.name} ${each.description}`.toLowerCase();
        return words.every((word) => searched.includes(word));
    });
    const rank = (each: Plottable): number => {
        const name = each.name.toLowerCase();
        return name.startsWith(begins) ? 0 : words.every((word) => name.includes(word)) ? 1 : 2;
    };
    return found.sort((a, b) => rank(a) - rank(b));
}

export class Chooser {
    readonly element = document.createElement('div');
    private readonly field = document.createElement('input');
    private readonly list = document.createElement('ul');
    private readonly said = document.createElement('span');
    private shown: Plottable[] = [];
    private at = -1;

    constructor(
        private readonly all: () => readonly Plottable[],
        private readonly chosen: (name: string) => void,
    ) {
        const { element, field, list, said } = this;
        element.className = 'timeline-chooser';
        field.type = 'text';
        field.placeholder = t('Plot a variable: type its name');
        field.spellcheck = false;
        field.autocomplete = 'off';
        for (const [name, value] of Object.entries({
            role: 'combobox',
            'aria-label': t('Plot a variable'),
            'aria-expanded': 'false',
            'aria-autocomplete': 'list',
            'aria-controls': 'timeline-variables',
        }))
            field.setAttribute(name, value);
        list.id = 'timeline-variables';
        list.setAttribute('role', 'listbox');
        list.setAttribute('aria-label', t('Variables'));
        list.hidden = true;
        said.className = 'unseen';
        said.setAttribute('role', 'status');
        element.append(field, list, said);
        field.addEventListener('input', () => this.open());
        field.addEventListener('focus', () => this.open());
        field.addEventListener('blur', () => this.close());
        field.addEventListener('keydown', (event) => this.key(event));
        // Before the field loses the focus.
        list.addEventListener('pointerdown', (event) => event.preventDefault());
        list.addEventListener('click', (event) => {
            const item = (event.target as Element).closest('li');
            if (item) this.take(Array.from(list.children).indexOf(item));
        });
    }

    say(text: string): void {
        this.said.textContent = text;
        this.said.className = 'timeline-said';
    }

    private open(): void {
        this.shown = matching(this.field.value, this.all()).slice(0, MOST_SHOWN);
        this.at = this.field.value && this.shown.length ? 0 : -1;
        this.list.replaceChildren(...this.shown.map((each, i) => item(each, i)));
        this.said.className = 'unseen';
        this.said.textContent = this.shown.length ? '' : t('no such variable');
        this.list.hidden = this.shown.length === 0;
        this.field.setAttribute('aria-expanded', `${!this.list.hidden}`);
        this.select(this.at);
    }

    private close(): void {
        this.list.hidden = true;
        this.field.setAttribute('aria-expanded', 'false');
        this.field.removeAttribute('aria-activedescendant');
    }

    private select(at: number): void {
        this.at = at;
        for (const [i, child] of Array.from(this.list.children).entries()) {
            child.setAttribute('aria-selected', `${i === at}`);
            if (i === at) child.scrollIntoView({ block: 'nearest' });
        }
        if (at >= 0) this.field.setAttribute('aria-activedescendant', `timeline-variable-${at}`);
        else this.field.removeAttribute('aria-activedescendant');
    }

    private take(at: number): void {
        const chosen = this.shown[at];
        if (!chosen) return;
        this.field.value = '';
        this.chosen(chosen.name);
        this.close();
    }

    private key(event: KeyboardEvent): void {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step !== undefined) {
            if (this.list.hidden) this.open();
            const count = this.shown.length;
            if (count) this.select((Math.max(this.at, step < 0 ? 0 : -1) + step + count) % count);
        } else if (event.key === 'Enter') this.take(this.at);
        else if (event.key === 'Escape') {
            this.field.value = '';
            this.close();
        } else return;
        event.preventDefault();
    }
}

function item(each: Plottable, i: number): HTMLLIElement {
    const made = document.createElement('li');
    made.id = `timeline-variable-${i}`;
    made.setAttribute('role', 'option');
    made.title = each.description;
    made.append(each.name);
    const rest = [each.unit && `[${each.unit}]`, each.everyTick ? '' : t('not of every tick')]
        .filter(Boolean)
        .join(' ');
    if (rest) {
        const quiet = document.createElement('span');
        quiet.className = 'quiet';
        quiet.textContent = ` ${rest}`;
        made.append(quiet);
    }
    return made;
}
