// `page-text.js` is written by `packages/inspector/build.ts`; it is not in the repository.

/** The script of the page. */
export declare const pageScript: string
export declare const pageStyle: string
/** `sha256-…`, as a content-security policy writes it. */
export declare const scriptHash: string
export declare const styleHash: string
/** The forms for copying, for a recording: `stuntdoubleCopy`. */
export declare const copyScript: string
export declare const copyHash: string
