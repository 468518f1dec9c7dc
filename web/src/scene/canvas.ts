// The canvas of the picture, and whether its browser draws without a graphics card.

import { t } from '../language/language.ts';

export interface DrawingCanvas {
    canvas: HTMLCanvasElement;
    context: WebGL2RenderingContext;
    /** The processor draws: each pixel costs it. */
    isSlow: boolean;
}

const WANTED = { alpha: false, depth: true, stencil: false, powerPreference: 'default' } as const;

/** @throws Error: the browser draws no 3D. */
export function drawingCanvas(): DrawingCanvas {
    const canvas = document.createElement('canvas');
    const quick = canvas.getContext('webgl2', { ...WANTED, antialias: true, failIfMajorPerformanceCaveat: true });
    // Smooth edges take the processor longer than all else of a picture.
    const context = quick ?? canvas.getContext('webgl2', { ...WANTED, antialias: false });
    if (!(context instanceof WebGL2RenderingContext)) throw new Error(t('it has no WebGL 2'));
    return { canvas, context, isSlow: quick === null };
}
