import { ControlRejection } from './control-rejection.js'

/** Where a reader's browser keeps it, for this tab only. */
const place = 'stuntdouble-token'

/** Gives the token that lets the page in. Asks for it when somebody first needs it, and again after a break. */
export type TakeToken = () => Promise<string | undefined>

/**
 * The token that lets the page in. The link has a code in its fragment that is exchanged for the token, once: what the
 * browser's history and the timing of the navigation keep of the link opens nothing any more. The token is kept for this tab.
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
      // A server that is gone has not seen the code.
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
