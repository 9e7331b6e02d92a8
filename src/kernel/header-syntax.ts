const nameSyntax = /^[\w!#$%&'*+.^`|~-]+$/

/** Bytes without line breaks and other control chars but the tab. */
export const headerValueSyntax: RegExp = /^[\t\x20-\x7e\x80-\xff]*$/

/** Whether HTTP can carry it. */
export function isHeader(name: string, value: string): boolean {
  return nameSyntax.test(name) && headerValueSyntax.test(value)
}
