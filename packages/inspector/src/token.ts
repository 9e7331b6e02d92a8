import { ControlRejection } from './control-rejection.js'

/** Key in `sessionStorage`, which belongs to one tab. */
const place = 'stuntdouble-token'

/** Returns the token for the server. It is called before the first request, and again after an interruption. */
export type TakeToken = () => Promise<string | undefined>

/**
 * Returns the token for the server. The fragment of the link contains a code, which the server accepts once in exchange
 * for the token. A link in the browser's history is therefore useless. The tab keeps the token.
 */
export function tokenTaker(): TakeToken {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const code = parameters.get('code')
  if (code === null) {
    const kept = sessionStorage.getItem(place) ?? undefined
    return async () => kept
  }
  parameters.delete('code')
  const rest = parameters.toString()
  history.replaceState(null, '', `${location.pathname}${location.search}${rest === '' ? '' : `#${rest}`}`)
  let taken: Promise<string> | undefined
  return () => {
    taken ??= exchanged(code).catch((error) => {
      // The server was unavailable, so the code was not used and can be sent again.
      if (!(error instanceof ControlRejection)) taken = undefined
      throw error
    })
    return taken
  }
}

async function exchanged(code: string): Promise<string> {
  const headers = { authorization: `Bearer ${code}` }
  const answer = await fetch('/_inspector/token', { method: 'POST', headers, cache: 'no-store' })
  if (!answer.ok) throw await ControlRejection.of(answer)
  const { token } = (await answer.json()) as { token: string }
  sessionStorage.setItem(place, token)
  return token
}
