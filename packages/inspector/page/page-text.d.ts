// Types of `page-text.js`, which `packages/inspector/build.ts` writes. The file is not in the repository.

/** The script of the page. */
export declare const pageScript: string
export declare const pageStyle: string
/** `sha256-…`, as a content-security policy writes it. */
export declare const scriptHash: string
export declare const styleHash: string
/** Script with the copy forms, for a recording. It sets the global variable `stuntdoubleCopy`. */
export declare const copyScript: string
export declare const copyHash: string
