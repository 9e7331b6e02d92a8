import { ControlRejection } from './control-rejection.js'

/** Name in the browser's storage, which keeps it for this tab only. */
const place = 'stuntdouble-token'

/** Returns the token for the server. Asks for it when it is first needed, and again after an interruption. */
export type TakeToken = () => Promise<string | undefined>

/**
 * Returns the token for the server. The link has a code in its fragment that is exchanged for the token once, so links
 * in the browser are useless afterwards. The token is kept for this tab.
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
      // If the server was unavailable, it has not used the code.
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
