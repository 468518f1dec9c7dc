export type Line = { text: string; kind: 'same' | 'removed' | 'added' };

/** Lines of two texts, by their longest common subsequence. */
export function differences(before: string, after: string): Line[] {
    const a = before.split('\n');
    const b = after.split('\n');
    if (a.length * b.length > 4_000_000)
        return [
            ...a.map((text): Line => ({ text, kind: 'removed' })),
            ...b.map((text): Line => ({ text, kind: 'added' })),
        ];
    const width = b.length + 1;
    const lengths = new Uint32Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
        for (let j = b.length - 1; j >= 0; j -= 1) {
            lengths[i * width + j] =
                a[i] === b[j]
                    ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
                    : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
        }
    }
    const found: Line[] = [];
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
        if (i < a.length && j < b.length && a[i] === b[j]) {
            found.push({ text: a[i] ?? '', kind: 'same' });
            i += 1;
            j += 1;
        } else if (
            j >= b.length ||
            (i < a.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
        ) {
            found.push({ text: a[i] ?? '', kind: 'removed' });
            i += 1;
        } else {
            found.push({ text: b[j] ?? '', kind: 'added' });
            j += 1;
        }
    }
    return found;
}
