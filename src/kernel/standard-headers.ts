let fillsIn: boolean | undefined

/** Whether the host fills in and sorts headers as the fetch standard says. Bun does not. */
function followsStandard(): boolean {
  fillsIn ??= new Response('text').headers.has('content-type')
  return fillsIn
}

/**
 * Returns the headers of a `Response` or `Request` that the app has created, as they are in a host that follows the
 * fetch standard: sorted, with the type of a body of text, and with the type of `Response.json()`.
 * @param isText whether the body is text, as far as its bytes or the app's usual code tell
 */
export function standardHeaders(headers: [string, string][], isText: boolean): [string, string][] {
  if (followsStandard()) return headers
  const list = headers.map(([name, value]): [string, string] => [
    name,
    value === typeInBun ? 'application/json' : value,
  ])
  if (isText && !list.some(([name]) => name === 'content-type')) {
    list.push(['content-type', 'text/plain;charset=UTF-8'])
  }
  return list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

/** The type that Bun gives to `Response.json()`. People who write this type by hand write a space in it. */
const typeInBun = 'application/json;charset=utf-8'
