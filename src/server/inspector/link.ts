/**
 * The address of the page with what it needs to be let in. A fragment is not sent: neither a log nor another page gets
 * to see the token, and the page takes it out of the address at once.
 * @param origin of the server: http://127.0.0.1:4010
 */
export function inspectorLink(origin: string, token: string | undefined): string {
  return `${origin}/${token === undefined ? '' : `#token=${encodeURIComponent(token)}`}`
}
