// A stand-in of the shape that the page has, until the page is there.

/** A page in one file, and what a content security policy allows of it. */
export interface InspectorPage {
  readonly html: string
  /** `sha256-…`, as a policy writes it. */
  readonly scriptHash: string
  readonly styleHash: string
}

export const editorScript = ''

export function inspectorPage(_recording?: object): InspectorPage {
  return {
    html: '<!doctype html><title>stuntdouble</title>',
    scriptHash: 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
    styleHash: 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  }
}
