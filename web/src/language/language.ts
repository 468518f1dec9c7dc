// The page's language. The English text in the sources is the key of its translations: de.json, zh.json, ja.json.

/** What can be chosen, by its own name. */
export const LANGUAGES = { en: 'English', de: 'Deutsch', zh: '中文', ja: '日本語' } as const;

export type Language = keyof typeof LANGUAGES;

const CHOSEN = 'robot_rt_control.language';
/** [ms] The page is drawn in English if its texts have not come by then: STOP must not wait for them. */
const PATIENCE_MS = 2000;

/** The view and the timeline are scripts of their own (build.mjs), with their own copy of this module. */
const shared = globalThis as { robotRtTexts?: Readonly<Record<string, string>> };

function isLanguage(text: string | null | undefined): text is Language {
    return text != null && Object.hasOwn(LANGUAGES, text);
}

/** What a person chose in this browser, else the first one that the browser asks for and there is. */
export function wantedLanguage(): Language {
    const chosen = localStorage.getItem(CHOSEN);
    if (isLanguage(chosen)) return chosen;
    return navigator.languages.map((each) => each.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en';
}

/** From now on this one: the page is opened again. */
export function chooseLanguage(language: string): void {
    localStorage.setItem(CHOSEN, language);
    location.reload();
}

/** Have the wanted texts, before anything is drawn. Returns what a person has to know; empty: nothing. */
export async function loadLanguage(): Promise<string> {
    const language = wantedLanguage();
    if (language === 'en') return '';
    try {
        const response = await fetch(`language_${language}.json`, { signal: AbortSignal.timeout(PATIENCE_MS) });
        if (!response.ok) throw new Error(`${response.status}`);
        takeTexts((await response.json()) as Record<string, string>);
    } catch (error) {
        return `${LANGUAGES[language]}: the texts cannot be loaded (${(error as Error).message}).`;
    }
    document.documentElement.lang = language;
    return '';
}

/** Take the texts of a language: English text → translation. */
export function takeTexts(texts: Readonly<Record<string, string>>): void {
    shared.robotRtTexts = texts;
}

/** The translation of a text. If there is a number `n`, `|` separates its forms for one and for several. */
function formOf(text: string, values?: Record<string, unknown>): string {
    const found = shared.robotRtTexts?.[text] ?? text;
    if (values?.n === undefined) return found;
    const forms = found.split('|');
    return (values.n === 1 ? forms[0] : forms.at(-1)) ?? found;
}

/**
 * A text in the page's language.
 * @param text in English, with `{name}` where a value stands.
 */
export function t(text: string, values?: Record<string, unknown>): string {
    const form = formOf(text, values);
    return values ? form.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all)) : form;
}

/** As `t`, in pieces: `inside` has what stands for each name, such as an element of the page. */
export function pieces<T>(text: string, inside: Record<string, T>): (string | T)[] {
    return formOf(text)
        .split(/\{(\w+)\}/)
        .map((piece, i) => (i % 2 ? (inside[piece] ?? piece) : piece));
}

/** Marks a text that is translated later, where it is shown. */
export function later(text: string): string {
    return text;
}
