import { withoutQuery } from '../kernel/address-pattern.js'
import { plural } from '../kernel/plural.js'
import { shownPattern, shownUrl } from '../secrets/urls.js'

/**
 * Request of the app to a host that no handler is registered for. If the sandbox saw only the DNS look-up and not the
 * request, only `hostname` is known.
 */
export interface Unregistered {
  readonly hostname: string
  readonly request?: { readonly method: string; readonly url: string } | undefined
  /**
   * Message about a similar registration: a pattern with the same host, but with another method or path than the
   * request.
   */
  readonly near?: string | undefined
}

interface Refused extends Unregistered {
  request?: Unregistered['request']
  times: number
  /** `seq` of each delivery attempt whose handler sent this request. Empty if the request came from other code. */
  readonly attempts: Set<number>
}

export const most = 1000

/** Requests that were blocked before they reached the network: how often each was sent, and by which deliveries. */
export class RefusedRequests {
  readonly #byKey = new Map<string, Refused>()

  add(given: Unregistered, attempt: number | undefined): void {
    const { hostname, request } = given
    const key = request === undefined ? hostname : `${request.method} ${withoutQuery(request.url)}`
    const known = this.#byKey.get(key) ?? { ...given, times: 0, attempts: new Set() }
    known.times++
    // Requests that differ only in the query share one row, so the row shows the URL without a query.
    if (request !== undefined && known.request?.url !== request.url) {
      known.request = { ...request, url: withoutQuery(request.url) }
    }
    if (attempt !== undefined) known.attempts.add(attempt)
    if (this.#byKey.size < most) this.#byKey.set(key, known)
  }

  get sentences(): readonly string[] {
    const all = [...this.#byKey.values()]
    const exact = new Set(all.filter(({ request }) => request !== undefined).map(({ hostname }) => hostname))
    return all
      .filter(({ hostname, request }) => request !== undefined || !exact.has(hostname))
      .map((one) => refusal(one, howOften(one)))
  }
}

/**
 * Returns the error message for a blocked request.
 * @param often how often the request was sent, as text that begins with a space: ` 3 times`. Empty by default.
 */
export function refusal({ hostname, request, near }: Unregistered, often = ''): string {
  if (near !== undefined) return near
  const what = request === undefined ? `a request to ${hostname}` : `${request.method} ${shownUrl(request.url)}`
  const pattern =
    request === undefined ? `https://${hostname}/*` : `${request.method} ${shownPattern(withoutQuery(request.url))}`
  return (
    `The app sent ${what}${often}, but no handler is registered for it and the request was blocked. ` +
    `Register one: sandbox.outbound.respond('${pattern}', …)`
  )
}

function howOften({ times, attempts }: Refused): string {
  const [first] = [...attempts].sort((one, other) => one - other)
  if (first !== undefined) return ` in ${plural(attempts.size, 'attempt')} (first: #${first})`
  return times === 1 ? '' : ` ${times} times`
}
