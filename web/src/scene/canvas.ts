// The canvas of the picture, and whether its browser draws without a graphics card.

import { t } from '../language/language.ts';

export interface DrawingCanvas {
    canvas: HTMLCanvasElement;
    context: WebGL2RenderingContext;
    /** The processor draws: each pixel costs it. */
    isSlow: boolean;
}

const WANTED = { alpha: false, depth: true, stencil: false, powerPreference: 'default' } as const;
/** What draws by the processor, as browsers call it: of Chromium and Android, of Mesa, of Windows, of macOS. */
const BY_PROCESSOR = /swiftshader|llvmpipe|softpipe|basic render|software/i;

/** @throws Error: the browser draws no 3D. */
export function drawingCanvas(): DrawingCanvas {
    // Smooth edges take the processor longer than all else of a picture.
    const plain = made(false);
    const { context } = plain;
    const names = context.getExtension('WEBGL_debug_renderer_info');
    const name = String(context.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : context.RENDERER));
    if (BY_PROCESSOR.test(name)) return { ...plain, isSlow: true };
    context.getExtension('WEBGL_lose_context')?.loseContext();
    return { ...made(true), isSlow: false };
}

function made(antialias: boolean): { canvas: HTMLCanvasElement; context: WebGL2RenderingContext } {
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('webgl2', { ...WANTED, antialias });
    if (!context) throw new Error(t('it has no WebGL 2'));
    return { canvas, context };
}
