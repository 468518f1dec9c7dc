export function element<K extends keyof HTMLElementTagNameMap>(
    kind: K,
    className: string,
    ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
    const made = document.createElement(kind);
    made.className = className;
    made.append(...children);
    return made;
}
