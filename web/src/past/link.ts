// The moment that a link names: #tick=12345, also beside a token, which the page takes away first.

/** The tick in a fragment; null: none, or none that is a whole number. */
export function tickOf(fragment: string): number | null {
    const text = new URLSearchParams(fragment.replace(/^#/, '')).get('tick') ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The fragment that names a tick. */
export function fragmentOf(tick: number): string {
    return `#tick=${tick}`;
}
