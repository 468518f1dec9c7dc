// The timeline as a person uses it: what is chosen, where it looks, what is read and measured. Plain elements, because
// the page that shows the workcell alone draws nothing of it until it is opened.

import { t } from '../language/language.ts';
import { Chooser } from './chooser.ts';
import { element } from './element.ts';
import { Legend } from './legend.ts';
import { eventText, markLook, timeText } from './look.ts';
import { LEFT, Plot, type Scope } from './plot.ts';
import { ReactionList } from './reactions.ts';
import type { Mark, Plottable, TickRange, TimelineSource } from './source.ts';

/** [s] that are seen first, and at most and least ticks. */
const FIRST_S = 10;
const LEAST_TICKS = 8;
const MOST_CHOSEN = 16;
const MOST_LISTED = 100;
const DRAG = 4;

export interface PanelOptions {
    /** The names to begin with. */
    chosen: readonly string[];
    /** Another choice was made. */
    onChoice(names: readonly string[]): void;
    /** A person has chosen a tick; null: what is now. */
    onSeek(tick: number | null): void;
    /** A person has chosen a mark. */
    onMark(mark: Mark | null): void;
}

export class Panel {
    readonly plot: Plot;
    /** For tests: what it shows. */
    readonly scope: Scope = { first: 0, last: 1, at: null, measured: null, chosen: [] };
    private readonly canvas = element('canvas', 'timeline-canvas');
    private readonly stage = element('div', 'timeline-stage', this.canvas);
    private readonly legend: Legend;
    private readonly readout = element('output', 'timeline-readout');
    private readonly list = element('ol', 'timeline-events');
    private readonly problem = element('p', 'timeline-problem');
    private readonly pauseButton = element('button', '', t('Pause'));
    private readonly chooser: Chooser;
    /** null: a source that cannot tell. */
    private readonly reactions: ReactionList | null;
    private readonly observer: ResizeObserver;
    private readonly unsubscribe: () => void;
    private names: string[];
    /** It moves with the source. */
    private follows = true;
    private span: number;
    /** [s] of a tick, as the span has it: a robot tells it later. */
    private period: number;
    private waiting = 0;
    /** The plots have to be drawn anew. */
    private isStale = true;
    private listed = '';
    private pressed: { x: number; tick: number; pans: boolean; first: number } | null = null;
    private mark: Mark | null = null;

    constructor(
        private readonly container: HTMLElement,
        private readonly source: TimelineSource,
        private readonly options: PanelOptions,
    ) {
        this.names = options.chosen.slice(0, MOST_CHOSEN);
        this.period = source.period;
        this.span = FIRST_S / source.period;
        if (!source.isLive && source.range) {
            const { first, last } = source.range;
            this.span = Math.min(this.span, Math.max(last - first, LEAST_TICKS));
            this.look(first);
        }
        this.plot = new Plot(this.canvas, source);
        this.stage.append(this.plot.span, this.plot.cursor);
        this.chooser = new Chooser(
            () => source.variables.filter((each) => !this.names.includes(each.name)),
            (name) => this.add(name),
        );
        this.legend = new Legend(source, (name) => this.choose(this.names.filter((each) => each !== name)));
        this.reactions = source.reactions ? new ReactionList(source) : null;
        this.build();
        this.unsubscribe = source.subscribe(() => this.changed());
        this.observer = new ResizeObserver(() => this.drawSoon());
        this.observer.observe(this.canvas);
        source.choose(this.names);
        this.changed();
    }

    close(): void {
        this.unsubscribe();
        this.reactions?.close();
        this.observer.disconnect();
        if (this.waiting) cancelAnimationFrame(this.waiting);
        this.container.replaceChildren();
    }

    /** Somebody else moves the time: a slider, the picture. null: what is now. */
    seek(tick: number | null): void {
        if (tick === this.scope.at) return;
        this.scope.at = tick;
        if (!this.source.isLive) this.scope.measured = null; // it may be far from there
        if (tick === null) this.follows = true;
        else if (tick < this.scope.first || tick > this.scope.last) return this.look(tick - this.span / 2);
        this.placeSoon();
    }

    // --- what is chosen -------------------------------------------------------------------------

    add(name: string): void {
        if (this.names.includes(name)) return;
        if (this.names.length >= MOST_CHOSEN) {
            this.chooser.say(t('At most {n} variables are plotted: take one out first.', { n: MOST_CHOSEN }));
            return;
        }
        this.choose([...this.names, name]);
    }

    private choose(names: string[]): void {
        this.names = names;
        this.source.choose(names);
        this.options.onChoice(names);
        this.changed();
    }

    private build(): void {
        const button = (text: string, title: string, act: () => void): HTMLButtonElement => {
            const made = element('button', '', text);
            made.title = title;
            made.addEventListener('click', act);
            return made;
        };
        this.pauseButton.title = t('Stop moving with the robot, or move again (Space)');
        this.pauseButton.addEventListener('click', () => this.togglePause());
        const tools = element(
            'div',
            'timeline-tools',
            this.chooser.element,
            this.pauseButton,
            ...(this.source.isLive ? [button(t('Now'), t('The latest tick (End)'), () => this.now())] : []),
            button(t('Longer'), t('See more time (minus)'), () => this.zoom(2)),
            button(t('Shorter'), t('See less time (plus)'), () => this.zoom(0.5)),
            button(t('All'), t('See all that is kept'), () => this.all()),
            this.readout,
        );
        this.readout.setAttribute('aria-live', 'off');
        this.stage.tabIndex = 0;
        this.stage.setAttribute('role', 'group');
        this.stage.setAttribute(
            'aria-label',
            t(
                'Plots. Arrows move the place that is read, with Shift they measure, with Ctrl by one tick. Plus and ' +
                    'minus zoom, {space}, comma and full stop go to other events.',
                { space: t(this.source.isLive ? 'Space pauses, End shows what is now' : 'Space plays') },
            ),
        );
        this.canvas.setAttribute('aria-hidden', 'true');
        const events = element('details', 'timeline-list', element('summary', '', t('Events')), this.list);
        events.addEventListener('toggle', () => this.drawSoon());
        const body = element('div', 'timeline-body', this.stage, events);
        if (this.reactions) body.append(this.reactions.element);
        this.container.replaceChildren(tools, this.problem, this.legend.element, body);
        this.listen();
    }

    // --- where it looks -------------------------------------------------------------------------

    private now(): void {
        if (!this.source.isLive) return this.read(this.source.range?.last ?? 0);
        this.follows = true;
        this.scope.at = null;
        this.scope.measured = null;
        this.options.onSeek(null);
        this.changed();
    }

    private togglePause(): void {
        this.follows = !this.follows;
        this.changed();
    }

    private all(): void {
        const { range } = this.source;
        if (!range) return;
        this.span = Math.max(range.last - range.first, LEAST_TICKS);
        if (!this.follows) this.look(range.first);
        this.changed();
    }

    private look(first: number): void {
        this.follows = false;
        this.scope.first = first;
        this.scope.last = first + this.span;
        this.changed();
    }

    /** @param about the tick that stays where it is; none: the place that is read, or the middle. */
    private zoom(factor: number, about?: number): void {
        const { scope } = this;
        const most = Math.max(
            (this.source.range?.last ?? 0) - (this.source.range?.first ?? 0),
            FIRST_S / this.source.period,
        );
        const span = Math.min(Math.max(this.span * factor, LEAST_TICKS), most);
        const fixed = about ?? scope.at ?? (scope.first + scope.last) / 2;
        const first = fixed - ((fixed - scope.first) / (scope.last - scope.first)) * span;
        this.span = span;
        if (this.follows) this.changed();
        else this.look(first);
    }

    private changed(): void {
        const { range, period } = this.source;
        this.span *= this.period / period;
        this.period = period;
        if (this.follows && range) {
            this.scope.last = range.last;
            this.scope.first = range.last - this.span;
        }
        this.pauseButton.textContent = t(this.follows ? 'Pause' : 'Go on');
        this.pauseButton.hidden = !this.source.isLive;
        this.drawSoon();
    }

    private drawSoon(): void {
        this.isStale = true;
        this.placeSoon();
    }

    /** What a person reads has moved, and nothing else has changed. */
    private placeSoon(): void {
        this.waiting ||= requestAnimationFrame(() => {
            this.waiting = 0;
            this.draw();
        });
    }

    private draw(): void {
        const known = new Map(this.source.variables.map((each) => [each.name, each]));
        const gone = (name: string): Plottable => ({ name, unit: '', description: '', everyTick: false });
        if (this.isStale) {
            this.scope.chosen = this.names.map((name) => known.get(name) ?? gone(name));
            this.stage.style.minHeight = `${this.plot.heightFor(this.scope.chosen)}px`;
            this.plot.draw(this.scope);
            this.isStale = false;
        }
        this.plot.place(this.scope);
        this.problem.textContent = this.source.problem;
        this.problem.hidden = this.source.problem === '';
        this.legend.draw(this.scope, known);
        this.drawReadout();
        this.drawEvents();
    }

    private drawReadout(): void {
        const { scope, source } = this;
        const tick = scope.at ?? source.range?.last;
        if (scope.measured) {
            const ticks = scope.measured.last - scope.measured.first;
            this.readout.textContent = t('Δt {time} ({n} tick)|Δt {time} ({n} ticks)', {
                time: timeText(ticks * source.period, source.period),
                n: ticks,
            });
        } else if (tick === undefined) this.readout.textContent = t('no ticks yet');
        else this.readout.textContent = t('{time} (tick {tick})', { time: this.timeOf(tick), tick });
    }

    private timeOf(tick: number): string {
        const { period, zero = 0 } = this.source;
        return timeText((tick - zero) * period, period);
    }

    /** The last events until the end of what is seen, the latest first. */
    private drawEvents(): void {
        if (!this.list.parentElement?.hasAttribute('open')) return;
        const until = { first: 0, last: this.follows ? Number.POSITIVE_INFINITY : Math.ceil(this.scope.last) };
        const marks = this.source.marks(until).slice(-MOST_LISTED).reverse();
        const key = marks.map((mark) => `${mark.tick} ${mark.kind} ${mark.reaction}`).join('\n');
        if (key === this.listed) return;
        this.listed = key;
        this.list.replaceChildren(...marks.map((mark) => this.eventItem(mark)));
    }

    private eventItem(mark: Mark): HTMLLIElement {
        const look = markLook(mark.kind);
        const sign = element('span', 'timeline-sign', look.sign);
        sign.style.color = look.color;
        const button = element('button', 'plain-button', sign, ` ${eventText(mark)}`);
        button.addEventListener('click', () => this.chooseMark(mark));
        return element('li', '', element('span', 'quiet', this.timeOf(mark.tick)), ' ', button);
    }

    chooseMark(mark: Mark | null): void {
        this.mark = mark;
        this.reactions?.show(mark);
        this.options.onMark(mark);
        if (mark) this.read(mark.tick);
    }

    private read(tick: number): void {
        const at = this.source.isLive ? Math.round(tick) : this.nearest(tick);
        this.follows = false;
        this.scope.measured = null;
        this.seek(at);
        this.scope.at = at;
        this.options.onSeek(at);
        this.changed();
    }

    // --- mouse, touch and keys ------------------------------------------------------------------

    private listen(): void {
        const at = (event: PointerEvent | WheelEvent): { x: number; y: number } => {
            const box = this.canvas.getBoundingClientRect();
            return { x: event.clientX - box.left, y: event.clientY - box.top };
        };
        this.canvas.addEventListener('pointerdown', (event) => {
            const { x } = at(event);
            if (x < LEFT || event.button > 1) return;
            this.canvas.setPointerCapture(event.pointerId);
            const pans = event.shiftKey || event.button === 1;
            this.pressed = { x, tick: this.plot.tickAt(x, this.scope), pans, first: this.scope.first };
        });
        this.canvas.addEventListener('pointermove', (event) => {
            const { x } = at(event);
            const { pressed } = this;
            if (!pressed || Math.abs(x - pressed.x) < DRAG) return;
            if (pressed.pans) {
                const perPixel =
                    (this.scope.last - this.scope.first) / (this.plot.xAt(1, { first: 0, last: 1 }) - LEFT);
                this.look(pressed.first - (x - pressed.x) * perPixel);
            } else {
                const tick = this.plot.tickAt(x, this.scope);
                this.measure(pressed.tick, tick);
                if (this.source.isLive) return;
                this.scope.at = this.nearest(tick); // the recording follows
                this.options.onSeek(this.scope.at);
            }
        });
        this.canvas.addEventListener('pointerup', (event) => {
            const { x, y } = at(event);
            const { pressed } = this;
            this.pressed = null;
            if (!pressed || Math.abs(x - pressed.x) >= DRAG) return;
            const mark = this.plot.markAt(x, y, this.scope);
            if (mark) this.chooseMark(mark);
            else this.read(this.plot.tickAt(x, this.scope));
        });
        this.canvas.addEventListener('pointercancel', () => {
            this.pressed = null;
        });
        this.canvas.addEventListener(
            'wheel',
            (event) => {
                event.preventDefault();
                const step = event.deltaY || event.deltaX;
                if (event.shiftKey) this.look(this.scope.first + Math.sign(step) * this.span * 0.1);
                else this.zoom(step > 0 ? 1.25 : 0.8, this.plot.tickAt(at(event).x, this.scope));
            },
            { passive: false },
        );
        this.stage.addEventListener('keydown', (event) => {
            if (!event.altKey && !event.metaKey && this.key(event)) event.preventDefault();
        });
        // The view of the robot has keys of its own.
        this.container.addEventListener('keydown', (event) => {
            const plays = !this.source.isLive && event.target === this.stage && event.key === ' ';
            if (!plays) event.stopPropagation();
        });
    }

    private measure(from: number, to: number): void {
        this.follows = false;
        const [first, last] = [Math.round(Math.min(from, to)), Math.round(Math.max(from, to))];
        this.scope.measured = this.clipped({ first, last });
        this.changed();
    }

    private nearest(tick: number): number {
        return this.clipped({ first: Math.round(tick), last: 0 }).first;
    }

    private clipped({ first, last }: TickRange): TickRange {
        const { range } = this.source;
        const within = (tick: number): number => (range ? Math.min(Math.max(tick, range.first), range.last) : tick);
        return { first: within(first), last: within(last) };
    }

    /** Whether it was one of its keys. */
    private key(event: KeyboardEvent): boolean {
        const { range } = this.source;
        const { scope } = this;
        const here = scope.at ?? range?.last ?? 0;
        const step = event.ctrlKey ? 1 : Math.max(Math.round(this.span / 100), 1);
        switch (event.key) {
            case 'ArrowLeft':
            case 'ArrowRight': {
                const to = here + (event.key === 'ArrowLeft' ? -step : step);
                if (!event.shiftKey) this.read(this.clipped({ first: to, last: to }).first);
                else {
                    const from =
                        scope.measured && scope.at === scope.measured.last
                            ? scope.measured.first
                            : (scope.measured?.last ?? here);
                    this.measure(from, to);
                    scope.at = this.clipped({ first: to, last: to }).first;
                }
                return true;
            }
            case '+':
            case '-':
                this.zoom(event.key === '+' ? 0.5 : 2);
                return true;
            case ' ':
                if (!this.source.isLive) return false;
                this.togglePause();
                return true;
            case 'Home':
                if (range) this.read(range.first);
                return true;
            case 'End':
                this.now();
                return true;
            case 'Escape':
                scope.measured = null;
                this.chooseMark(null);
                this.changed();
                return true;
            case ',':
            case '.':
                this.stepMark(event.key === '.' ? 1 : -1, here);
                return true;
            default:
                return false;
        }
    }

    private stepMark(direction: number, here: number): void {
        const { range } = this.source;
        if (!range) return;
        const marks = this.source.marks(range);
        const at = this.mark && this.mark.tick === here ? marks.indexOf(this.mark) : -1;
        const found =
            at >= 0
                ? marks[at + direction]
                : direction > 0
                  ? marks.find((mark) => mark.tick > here)
                  : marks.findLast((mark) => mark.tick < here);
        if (found) this.chooseMark(found);
    }
}
