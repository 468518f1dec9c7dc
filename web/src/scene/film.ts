// A film of the picture, made by the browser.

import { t } from '../language/language.ts';

const KINDS = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'];
/** [Hz] at most: a picture that does not change makes none. */
const RATE = 30;
/** [ms] It is kept in memory until it ends. */
const LONGEST_MS = 10 * 60_000;

export class Film {
    /** The file, once it has ended: by `end`, or when it is too long. */
    readonly ended: Promise<Blob>;
    private readonly recorder: MediaRecorder;

    /** Begins. Throws Error: the browser makes none. */
    constructor(canvas: HTMLCanvasElement) {
        const kind = KINDS.find((each) => MediaRecorder.isTypeSupported(each));
        if (!kind) throw new Error(t('it has no format for it'));
        const stream = canvas.captureStream(RATE);
        this.recorder = new MediaRecorder(stream, { mimeType: kind });
        const parts: Blob[] = [];
        this.recorder.ondataavailable = (event) => parts.push(event.data);
        this.ended = new Promise((resolve) => {
            this.recorder.onstop = () => {
                for (const track of stream.getTracks()) track.stop();
                resolve(new Blob(parts, { type: 'video/webm' }));
            };
        });
        this.recorder.start();
        const timer = setTimeout(() => this.end(), LONGEST_MS);
        void this.ended.then(() => clearTimeout(timer));
    }

    end(): void {
        if (this.recorder.state !== 'inactive') this.recorder.stop();
    }
}
