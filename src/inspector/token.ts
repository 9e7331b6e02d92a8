/** Where a reader's browser keeps it, for this tab only. */
const place = 'stuntdouble-token'

/**
 * The token that lets the page in. It arrives in the fragment of the link, which no server and no other page gets to see;
 * it is taken out of the address at once and kept for this tab.
 */
export function takeToken(): string | undefined {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const given = parameters.get('token')
  if (given === null) return sessionStorage.getItem(place) ?? undefined
  parameters.delete('token')
  const rest = parameters.toString()
  history.replaceState(null, '', `${location.pathname}${location.search}${rest === '' ? '' : `#${rest}`}`)
  sessionStorage.setItem(place, given)
  return given
}
