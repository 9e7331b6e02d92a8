// Types of `editor-text.js`, which `packages/inspector/build.ts` writes. The file is not in the repository.

/** Script of the text editor, which the page loads on demand. */
export declare const editorScript: string
