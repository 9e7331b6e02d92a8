// `editor-text.js` is written by `build-inspector.ts`; it is not in the repository.

/** The editor of texts, which the page loads on demand. */
export declare const editorScript: string
