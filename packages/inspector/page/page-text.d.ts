// Types of `page-text.js`, which `packages/inspector/build.ts` writes. The file is not in the repository.

export declare const pageScript: string
export declare const pageStyle: string
/** Hash of `pageScript` in the format of a content-security policy: `sha256-…`. */
export declare const scriptHash: string
export declare const styleHash: string
/** Script with the copy forms, for a recording. It sets the global variable `stuntdoubleCopy`. */
export declare const copyScript: string
export declare const copyHash: string
