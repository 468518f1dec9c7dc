// Draws a timeline: a strip with an axis of its own for each unit, a lane of bars for each part, marks, and gaps.

import { t } from '../language/language.ts';
import { element } from './element.ts';
import { barColor, markLook, numberText, roundStep, strokeOf, timeText } from './look.ts';
import type { Bar, Columns, Mark, Plottable, TickRange, TimelineSource } from './source.ts';

export const LEFT = 78;
const RIGHT = 12;
const AXIS = 20;
const MARKS = 18;
const LANE = 20;
const LEAST_STRIP = 46;
const INK = '#0f172a';
const QUIET = '#52606d';
const LINE = '#d5dce4';
const FONT = '11px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
/** So few ticks in a pixel that each is drawn. */
const SINGLE = 1;

/** What is drawn, and where a person is in it. */
export interface Scope {
    /** Ticks; not whole while it moves. */
    first: number;
    last: number;
    /** Where a person reads; null: nowhere. */
    at: number | null;
    /** What a person measures. */
    measured: TickRange | null;
    chosen: readonly Plottable[];
}

interface Strip {
    unit: string;
    lines: { variable: Plottable; place: number }[];
    top: number;
    height: number;
}

export class Plot {
    /** Pictures that were drawn. */
    drawn = 0;
    /** Above the canvas: where a person reads, and what a person measures. */
    readonly cursor = element('div', 'timeline-cursor');
    readonly span = element('div', 'timeline-span');
    private readonly context: CanvasRenderingContext2D;
    private marksTop = 0;

    constructor(
        readonly canvas: HTMLCanvasElement,
        private readonly source: TimelineSource,
    ) {
        const context = canvas.getContext('2d');
        if (!context) throw new Error(t('this browser draws no pictures'));
        this.context = context;
    }

    /** [px] that it needs at least. */
    heightFor(chosen: readonly Plottable[]): number {
        const strips = Math.max(new Set(chosen.map((each) => each.unit)).size, 1);
        return AXIS + MARKS + LANE * this.lanes.length + LEAST_STRIP * strips + 8;
    }

    /** Parts that had an action: sensors seldom have. */
    private get lanes(): string[] {
        const { range } = this.source;
        const parts = new Set(range ? this.source.bars(range).map((bar) => bar.part) : []);
        return this.source.parts.filter((part) => parts.has(part));
    }

    tickAt(x: number, { first, last }: TickRange): number {
        return first + ((x - LEFT) / this.width) * (last - first);
    }

    xAt(tick: number, { first, last }: TickRange): number {
        return LEFT + ((tick - first) / (last - first)) * this.width;
    }

    /** The mark at a place of the canvas; null: none. */
    markAt(x: number, y: number, scope: Scope): Mark | null {
        if (y < this.marksTop || y > this.marksTop + MARKS) return null;
        const reach = (7 / this.width) * (scope.last - scope.first);
        const tick = this.tickAt(x, scope);
        const near = this.source.marks({ first: Math.floor(tick - reach), last: Math.ceil(tick + reach) });
        return near.reduce<Mark | null>(
            (best, mark) => (best && Math.abs(best.tick - tick) <= Math.abs(mark.tick - tick) ? best : mark),
            null,
        );
    }

    private get width(): number {
        return Math.max(this.canvas.clientWidth - LEFT - RIGHT, 1);
    }

    draw(scope: Scope): void {
        const { canvas, context } = this;
        const scale = globalThis.devicePixelRatio || 1;
        const [width, height] = [canvas.clientWidth, canvas.clientHeight];
        if (width < 1 || height < 1) return;
        if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
            canvas.width = Math.round(width * scale);
            canvas.height = Math.round(height * scale);
        }
        context.setTransform(scale, 0, 0, scale, 0, 0);
        context.fillStyle = '#ffffff';
        context.fillRect(0, 0, width, height);
        context.font = FONT;
        context.textBaseline = 'middle';
        const lanes = this.lanes;
        const bottom = height - AXIS;
        this.marksTop = bottom - lanes.length * LANE - MARKS;
        const strips = this.strips(scope, this.marksTop - 4);
        this.drawTime(scope, bottom);
        this.drawGaps(scope, bottom);
        for (const strip of strips) this.drawStrip(strip, scope);
        this.drawBars(lanes, scope, this.marksTop + MARKS);
        this.drawMarks(scope, bottom);
        this.drawn += 1;
    }

    private strips(scope: Scope, bottom: number): Strip[] {
        const units = [...new Set(scope.chosen.map((each) => each.unit))];
        const height = bottom / Math.max(units.length, 1);
        return units.map((unit, i) => ({
            unit,
            lines: scope.chosen.flatMap((variable, place) => (variable.unit === unit ? [{ variable, place }] : [])),
            top: i * height + 3,
            height: height - 6,
        }));
    }

    private inside(top: number, height: number, draw: () => void): void {
        this.context.save();
        this.context.beginPath();
        this.context.rect(LEFT, top, this.width, height);
        this.context.clip();
        draw();
        this.context.restore();
    }

    private drawTime(scope: Scope, bottom: number): void {
        const { context, source } = this;
        const span = (scope.last - scope.first) * source.period;
        const step = roundStep(span, this.width / 110);
        context.textAlign = 'center';
        const zero = source.zero ?? 0;
        const end = (scope.last - zero) * source.period;
        for (let t = Math.ceil(((scope.first - zero) * source.period) / step) * step; t <= end; t += step) {
            const x = this.xAt(t / source.period + zero, scope);
            context.fillStyle = LINE;
            context.fillRect(Math.round(x), 0, 1, bottom);
            context.fillStyle = QUIET;
            if (x > LEFT + 20 && x < LEFT + this.width - 20) context.fillText(timeText(t, step), x, bottom + AXIS / 2);
        }
    }

    /** What is missing: hatched, never drawn across; at least two pixels wide, so that it is seen. */
    private drawGaps(scope: Scope, bottom: number): void {
        const { context } = this;
        this.inside(0, bottom, () => {
            for (const gap of this.source.gaps(whole(scope))) {
                const x = this.xAt(gap.first - 0.5, scope);
                const wide = Math.max(this.xAt(gap.last + 0.5, scope) - x, 2);
                context.fillStyle = '#fde68a';
                context.fillRect(x, 0, wide, bottom);
                context.strokeStyle = '#92400e';
                context.lineWidth = 1;
                context.beginPath();
                context.save();
                context.rect(x, 0, wide, bottom);
                context.clip();
                context.beginPath();
                for (let y = -wide; y < bottom; y += 9) {
                    context.moveTo(x, y + wide);
                    context.lineTo(x + wide, y);
                }
                context.stroke();
                context.restore();
            }
        });
    }

    private drawStrip(strip: Strip, scope: Scope): void {
        const { context } = this;
        const count = Math.max(Math.floor(this.width), 1);
        const range = whole(scope);
        const columns = strip.lines.map(({ variable }) =>
            variable.everyTick ? this.source.columns(variable.name, range, count) : null,
        );
        const sparse = strip.lines.map(({ variable }) =>
            variable.everyTick ? null : this.source.samples(variable.name, range),
        );
        let low = Number.POSITIVE_INFINITY;
        let high = Number.NEGATIVE_INFINITY;
        const see = (value: number): void => {
            if (value < low) low = value;
            if (value > high) high = value;
        };
        for (const each of columns) {
            each?.min.forEach(see);
            each?.max.forEach(see);
        }
        for (const each of sparse) each?.values.forEach(see);
        const isKnown = low <= high;
        if (!isKnown) [low, high] = [0, 1];
        const margin = Math.max((high - low) * 0.06, Math.abs(high) * 1e-9, 1e-12);
        if (high - low < 1e-12)
            [low, high] = [low - Math.max(Math.abs(low) * 0.1, 0.5), high + Math.max(Math.abs(high) * 0.1, 0.5)];
        else [low, high] = [low - margin, high + margin];
        const yAt = (value: number): number => strip.top + strip.height * (1 - (value - low) / (high - low));
        this.drawAxis(strip, low, high, yAt, isKnown);
        this.inside(strip.top, strip.height, () => {
            for (const [i, { variable, place }] of strip.lines.entries()) {
                const stroke = strokeOf(place);
                context.strokeStyle = context.fillStyle = stroke.color;
                context.lineWidth = 1.5;
                context.lineJoin = 'round';
                context.setLineDash([...stroke.dash]);
                const samples = sparse[i];
                if (samples) this.drawDots(samples.ticks, samples.values, scope, yAt);
                else if (range.last - range.first < count * SINGLE) {
                    const { ticks, values } = this.source.samples(variable.name, range);
                    this.drawLine(ticks, values, scope, yAt);
                } else if (columns[i]) this.drawColumns(columns[i] as Columns, range, scope, yAt);
                context.setLineDash([]);
            }
        });
    }

    private drawAxis(strip: Strip, low: number, high: number, yAt: (v: number) => number, isKnown: boolean): void {
        const { context } = this;
        context.fillStyle = INK;
        context.textAlign = 'left';
        context.fillText(strip.unit || (strip.lines.length > 0 ? t('no unit') : ''), 4, strip.top + 8);
        context.strokeStyle = LINE;
        context.lineWidth = 1;
        context.strokeRect(LEFT + 0.5, strip.top + 0.5, this.width - 1, strip.height - 1);
        if (!isKnown) return;
        context.textAlign = 'right';
        const step = roundStep(high - low, Math.max(strip.height / 22, 3));
        for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
            const y = Math.round(yAt(value));
            context.fillStyle = '#e8edf3';
            context.fillRect(LEFT, y, this.width, 1);
            context.fillStyle = QUIET;
            const shown = Math.abs(value) < step * 1e-6 ? 0 : value;
            if (y > strip.top + 5 && y < strip.top + strip.height - 3) context.fillText(numberText(shown), LEFT - 6, y);
        }
    }

    /** Least and greatest of each column, joined to its neighbour unless something between is missing or unknown. */
    private drawColumns(columns: Columns, range: TickRange, scope: Scope, yAt: (v: number) => number): void {
        const { context } = this;
        const count = columns.min.length;
        const width = (range.last - range.first + 1) / count;
        context.beginPath();
        let isDown = false;
        for (let i = 0; i < count; i++) {
            const min = columns.min[i] as number;
            if (Number.isNaN(min)) {
                isDown = false;
                continue;
            }
            const x = this.xAt(range.first + (i + 0.5) * width, scope);
            const first = yAt(columns.first[i] as number);
            if (isDown && columns.broken[i] === 0) context.lineTo(x, first);
            else context.moveTo(x, first + 0.5); // one value alone is a point
            context.lineTo(x, yAt(min));
            context.lineTo(x, yAt(columns.max[i] as number));
            context.lineTo(x, yAt(columns.last[i] as number));
            isDown = true;
        }
        context.stroke();
    }

    private drawLine(ticks: Float64Array, values: Float64Array, scope: Scope, yAt: (v: number) => number): void {
        const { context } = this;
        const pixels = this.width / (scope.last - scope.first);
        context.beginPath();
        let before = Number.NaN;
        for (let i = 0; i < ticks.length; i++) {
            const [tick, value] = [ticks[i] as number, values[i] as number];
            if (Number.isNaN(value)) {
                before = Number.NaN;
                continue;
            }
            const [x, y] = [this.xAt(tick, scope), yAt(value)];
            if (tick === before + 1) context.lineTo(x, y);
            else {
                context.moveTo(x, y + 0.5);
                context.lineTo(x, y);
            }
            before = tick;
        }
        context.stroke();
        if (pixels > 6) this.drawDots(ticks, values, scope, yAt);
    }

    private drawDots(ticks: Float64Array, values: Float64Array, scope: Scope, yAt: (v: number) => number): void {
        for (let i = 0; i < ticks.length; i++) {
            const value = values[i] as number;
            if (!Number.isNaN(value))
                this.context.fillRect(this.xAt(ticks[i] as number, scope) - 1.5, yAt(value) - 1.5, 3, 3);
        }
    }

    private drawBars(lanes: readonly string[], scope: Scope, top: number): void {
        const { context, source } = this;
        const bars = source.bars(whole(scope));
        const now = source.range?.last ?? 0;
        for (const [lane, part] of lanes.entries()) {
            const y = top + lane * LANE;
            context.fillStyle = INK;
            context.textAlign = 'left';
            context.fillText(fitted(context, part, LEFT - 8), 4, y + LANE / 2);
            this.inside(y, LANE, () => {
                for (const bar of bars) if (bar.part === part) this.drawBar(bar, bar.last ?? now, y, scope);
            });
        }
    }

    private drawBar(bar: Bar, last: number, y: number, scope: Scope): void {
        const { context } = this;
        const x = this.xAt(bar.first - 0.5, scope);
        const wide = Math.max(this.xAt(last + 0.5, scope) - x, 1);
        context.fillStyle = barColor(bar.action);
        context.fillRect(x, y + 2, wide, LANE - 4);
        context.fillStyle = QUIET;
        if (!bar.began) context.fillRect(x, y + 2, 2, LANE - 4);
        const shown = Math.max(x, LEFT) + 5;
        const room = Math.min(x + wide, LEFT + this.width) - shown - 4;
        if (room > 14) {
            context.fillStyle = INK;
            const name = bar.session ? `${bar.session}/${bar.action}` : bar.action;
            context.fillText(fitted(context, name || t('an action'), room), shown, y + LANE / 2);
        }
    }

    private drawMarks(scope: Scope, bottom: number): void {
        const { context } = this;
        context.fillStyle = QUIET;
        context.textAlign = 'left';
        context.fillText(t('events'), 4, this.marksTop + MARKS / 2);
        this.inside(0, bottom, () => {
            context.textAlign = 'center';
            let before = Number.NEGATIVE_INFINITY;
            for (const mark of this.source.marks(whole(scope))) {
                const look = markLook(mark.kind);
                const x = this.xAt(mark.tick, scope);
                if (x - before < 1 && mark.kind !== 'part_faulted') continue; // too many to be seen
                before = x;
                context.fillStyle = look.color;
                if (mark.kind === 'reaction_fired' || mark.kind === 'part_faulted') {
                    context.globalAlpha = 0.45;
                    context.fillRect(Math.round(x) - 0.5, 0, 1, bottom);
                    context.globalAlpha = 1;
                }
                context.fillText(look.sign, x, this.marksTop + MARKS / 2);
            }
        });
    }

    /** Show what a person measures, and where a person reads: they move far more often than what is drawn changes. */
    place(scope: Scope): void {
        const { at, measured } = scope;
        const bottom = this.canvas.clientHeight - AXIS;
        const put = (it: HTMLElement, first: number | null, last: number | null): void => {
            const [from, to] = [first ?? Number.NaN, last ?? Number.NaN].map((tick) =>
                Math.min(Math.max(this.xAt(tick, scope), LEFT), LEFT + this.width),
            ) as [number, number];
            const isSeen = (first ?? Number.NaN) <= scope.last && (last ?? Number.NaN) >= scope.first;
            it.style.display = isSeen ? 'block' : 'none';
            it.style.transform = `translateX(${Math.round(from)}px)`;
            it.style.width = `${Math.max(to - from, 1)}px`;
            it.style.height = `${bottom}px`;
        };
        put(this.cursor, at, at);
        put(this.span, measured?.first ?? null, measured?.last ?? null);
    }
}

/** Whole ticks that a scope shows. */
export function whole({ first, last }: TickRange): TickRange {
    return { first: Math.floor(first), last: Math.ceil(last) };
}

/** A text, cut so that it has room. */
function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
    if (context.measureText(text).width <= room) return text;
    let n = text.length;
    while (n > 1 && context.measureText(`${text.slice(0, n)}…`).width > room) n -= 1;
    return `${text.slice(0, n)}…`;
}
