/** Asks again in a second for what was not answered: the robot may still be coming up. */
export class Retry {
    private readonly later = new Map<string, ReturnType<typeof setTimeout>>();

    soon(what: string, load: () => Promise<void>): void {
        clearTimeout(this.later.get(what));
        this.later.set(
            what,
            setTimeout(() => void load(), 1000),
        );
    }
}
