// That something has changed: whoever draws it is told.

export class Changes {
    version = 0;
    /** Of all but what is live. */
    stillVersion = 0;
    private readonly listeners = new Set<() => void>();

    subscribe = (listener: () => void): (() => void) => {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    };

    tell(isLive = false): void {
        this.version += 1;
        if (!isLive) this.stillVersion += 1;
        for (const listener of this.listeners) listener();
    }
}
