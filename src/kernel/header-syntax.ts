/** Whether HTTP can carry it: a token as the name, bytes without line breaks and other control chars as the value. */
export function isHeader(name: string, value: string): boolean {
  return isHeaderName(name) && isHeaderValue(value)
}

export function isHeaderName(name: string): boolean {
  return token.test(name)
}

export function isHeaderValue(value: string): boolean {
  return !beyondBytes.test(value)
}

const token = /^[\w!#$%&'*+.^`|~-]+$/
const beyondBytes = /[^\t\x20-\x7e\x80-\xff]/
