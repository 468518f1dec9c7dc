// A second recording beside what is shown: its robot is drawn transparent, as long after its first tick.

import type { View } from '../scene/view.ts';
import { ask, askBytes } from '../server.ts';
import type { Answer, Scene } from '../wire.ts';
import { Blocks, sceneJoints } from './blocks.ts';
import type { PastAbout, PastScene, SceneAnswer } from './wire.ts';

/** The number of the second recording. */
const SECOND = 1;

/** Where its ticks and its robot come from. */
export interface OtherSource {
    joints(block: number): Promise<ArrayBuffer | null>;
    scene(tick: number): Promise<Answer & Scene & Partial<PastScene>>;
}

const SECOND_RECORDING: OtherSource = {
    joints: (block) => askBytes('past_joints', { recording: SECOND, block }),
    scene: (tick) => ask<SceneAnswer>('scene', { recording: SECOND, tick }),
};

export class Other {
    private readonly blocks: Blocks;
    private scene: (Scene & Partial<PastScene>) | null = null;
    private isAsking = false;
    private view: View | null = null;
    /** Ticks since the first one. */
    private offset = 0;
    /** The first tick that differs, of the first recording; null: none. Undefined: it is not known yet. */
    differs: number | null | undefined;
    /** What differs, or why it is not known. */
    text = '';

    /** @param changed called when there is something new to draw. */
    constructor(
        readonly about: PastAbout,
        private readonly changed: () => void,
        private readonly source = SECOND_RECORDING,
    ) {
        this.blocks = new Blocks(about, source.joints, () => this.place());
    }

    async compare(): Promise<void> {
        const answer = await ask<Answer & { tick: number | null; text: string }>('past_difference');
        this.differs = answer.success ? answer.tick : null;
        this.text = answer.success ? answer.text : answer.message;
        this.changed();
    }

    /** Draw its robot in this view; null: in none. */
    follow(view: View | null): void {
        if (view === this.view) return;
        if (!view) this.view?.hideGhost();
        this.view = view;
        if (view && this.scene) view.showGhost(this.scene);
        this.place();
    }

    /** Show a tick, or the last one. Returns whether there is one. */
    show(offset: number, direction: number, ahead: number): void {
        this.offset = offset;
        this.blocks.want(this.tick, direction, ahead);
        this.place();
    }

    /** The tick that is shown. */
    get tick(): number {
        return Math.min(this.about.first + this.offset, this.about.last);
    }

    /** The second recording has ended before. */
    get hasEnded(): boolean {
        return this.about.first + this.offset > this.about.last;
    }

    private place(): void {
        const state = this.blocks.at(this.tick);
        const { scene, tick } = this;
        if (!scene || tick < (scene.from ?? -Infinity) || tick >= (scene.until ?? Infinity)) return void this.fetch();
        if (state) this.view?.moveGhost(sceneJoints(scene, this.about.joints, state.q));
    }

    private async fetch(): Promise<void> {
        if (this.isAsking || !this.view) return;
        this.isAsking = true;
        const answer = await this.source.scene(this.tick);
        if (!answer.success) {
            this.text = answer.message; // it is not asked for again
            this.changed();
            return;
        }
        this.isAsking = false;
        this.scene = answer;
        this.view?.showGhost(answer);
        this.place();
    }
}
