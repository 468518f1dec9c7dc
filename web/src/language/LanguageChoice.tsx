import { chooseLanguage, LANGUAGES, wantedLanguage } from './language.ts';

/** Chooses the page's language. Its name is in all of them: who needs it cannot read the others. */
export function LanguageChoice() {
    return (
        <select
            className="language"
            aria-label="Language, Sprache, 语言, 言語"
            value={wantedLanguage()}
            onChange={(event) => chooseLanguage(event.target.value)}>
            {Object.entries(LANGUAGES).map(([language, name]) => (
                <option key={language} value={language} lang={language}>
                    {name}
                </option>
            ))}
        </select>
    );
}
