// What is plotted: the line of each variable, and its value where a person reads.

import { t } from '../language/language.ts';
import { element } from './element.ts';
import { numberText, strokeOf } from './look.ts';
import type { Scope } from './plot.ts';
import type { Plottable, TimelineSource } from './source.ts';

export class Legend {
    readonly element = element('ul', 'timeline-legend');

    /** @param remove called with the name of one that a person takes out. */
    constructor(
        private readonly source: TimelineSource,
        private readonly remove: (name: string) => void,
    ) {
        this.element.setAttribute('aria-label', t('Plotted variables'));
    }

    /** @param known the variables that there are, by name. */
    draw(scope: Scope, known: ReadonlyMap<string, Plottable>): void {
        while (this.element.children.length > scope.chosen.length) this.element.lastElementChild?.remove();
        for (const [n, variable] of scope.chosen.entries()) {
            let item = this.element.children[n];
            if (!item || (item as HTMLElement).dataset.name !== variable.name) {
                const made = this.item(variable.name);
                if (item) item.replaceWith(made);
                else this.element.append(made);
                item = made;
            }
            const stroke = strokeOf(n);
            const swatch = item.querySelector<HTMLElement>('.timeline-swatch');
            if (swatch) {
                swatch.style.borderTopColor = stroke.color;
                swatch.style.borderTopStyle =
                    ['solid', 'dashed', 'dotted'][stroke.dash[0] === 6 ? 1 : stroke.dash.length ? 2 : 0] ?? 'solid';
            }
            const value = item.querySelector('.timeline-value');
            if (value) value.textContent = this.valueText(scope, variable, known.has(variable.name));
            (item as HTMLElement).title =
                `${variable.description}${variable.everyTick ? '' : ` (${t('not of every tick')})`}`;
        }
    }

    private item(name: string): HTMLLIElement {
        const remove = element('button', 'small', '✕');
        remove.setAttribute('aria-label', t('Take out {name}', { name }));
        remove.addEventListener('click', () => this.remove(name));
        const item = element(
            'li',
            '',
            element('span', 'timeline-swatch'),
            element('span', 'timeline-name', name),
            element('span', 'timeline-value'),
            remove,
        );
        item.dataset.name = name;
        return item;
    }

    /** Its value where a person reads, or what it changes by in what is measured. */
    private valueText({ measured, at }: Scope, variable: Plottable, isKnown: boolean): string {
        if (!isKnown) return t('is not there now');
        const unit = variable.unit ? ` ${variable.unit}` : '';
        if (measured) {
            const [a, b] = [this.valueAt(variable, measured.first), this.valueAt(variable, measured.last)];
            return a === null || b === null ? `Δ ${t('unknown')}` : `Δ ${numberText(b - a)}${unit}`;
        }
        const tick = at ?? this.source.range?.last;
        const value = tick === undefined ? null : this.valueAt(variable, tick);
        return value === null
            ? tick !== undefined && this.isMissing(tick)
                ? t('missing')
                : t('unknown')
            : numberText(value) + unit;
    }

    private isMissing(tick: number): boolean {
        return this.source.gaps({ first: tick, last: tick }).length > 0;
    }

    /** In a tick; of what is not known in every tick the last sample of the second before. null: unknown. */
    private valueAt(variable: Plottable, tick: number): number | null {
        const before = variable.everyTick ? 0 : 1 / this.source.period;
        const value = this.source.samples(variable.name, { first: tick - before, last: tick }).values.at(-1);
        return value === undefined || Number.isNaN(value) ? null : value;
    }
}
