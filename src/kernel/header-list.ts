/** Headers in their order; a name may come twice. Values are bytes. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

export const noHeaders: HeaderList = []

/** The first value of a header. @param name in lower case */
export function headerOf(headers: HeaderList, name: string): string | undefined {
  for (const [key, value] of headers)
    if (key === name || (key.length === name.length && key.toLowerCase() === name)) return value
  return undefined
}

const nameSyntax = /^[\w!#$%&'*+.^`|~-]+$/

/** Bytes without line breaks and other control characters except the tab. */
export const headerValueSyntax: RegExp = /^[\t\x20-\x7e\x80-\xff]*$/

/** Whether HTTP can carry it. */
export function isHeader(name: string, value: string): boolean {
  return nameSyntax.test(name) && headerValueSyntax.test(value)
}
