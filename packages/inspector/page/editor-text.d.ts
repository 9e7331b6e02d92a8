// `editor-text.js` is written by `packages/inspector/build.ts`; it is not in the repository.

/** The editor of texts, which the page loads on demand. */
export declare const editorScript: string
