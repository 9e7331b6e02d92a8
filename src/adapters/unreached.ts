import { callerLine } from '../kernel/caller-line.js'
import { baseUrlsOf, type SandboxUrls, withoutRootDot } from '../protocol/address.js'
import { layOver } from './fetch-layers.js'
import { refuseLookups } from './lookup.js'

/** HTTP status 421 (Misdirected Request), for a request to a host that the server does not serve. */
const misdirected = 421

/**
 * Makes requests to the sandbox fail if they reach the network, because no library intercepts them. The host look-up
 * fails, which happens only after msw and nock have let the request pass. A `fetch` client gets a response with the
 * reason instead of an error, because the SDKs would otherwise retry for seconds.
 * @param why returns the message for an origin
 * @param note called with each message, because the app may swallow the message
 * @param realUrls URLs of the vendor to which the sandbox responds
 */
export function respondUnreached(
  addresses: SandboxUrls,
  why: (origin: string) => string,
  note: (sentence: string) => void = () => {},
  realUrls: readonly string[] = [],
): () => void {
  const urls = [...baseUrlsOf(addresses), ...realUrls].map((address) => new URL(address))
  const origins = new Map(urls.map(({ hostname, origin }) => [hostname, origin]))
  const endLookups = refuseLookups((hostname) => {
    const origin = origins.get(withoutRootDot(hostname))
    return origin === undefined ? undefined : new Unreached(why(origin))
  })
  const endLayer = layOver(async (_url, _input, _init, pass) => {
    const line = callerLine(new Error('called here'))
    try {
      return await pass()
    } catch (error) {
      const unreached = unreachedIn(error)
      if (unreached === undefined) throw error
      const sentence = `${unreached.message}${line === '' ? '' : ` The request was sent at ${line}.`}`
      note(sentence)
      return Response.json({ error: sentence }, { status: misdirected })
    }
  })
  return () => {
    endLayer()
    endLookups()
  }
}

class Unreached extends Error {
  override readonly name = 'Unreached'
}

/**
 * Returns the `Unreached` error in a chain of causes. `fetch` wraps errors of lower layers, so this error can be
 * anywhere in the chain.
 */
function unreachedIn(error: unknown): Unreached | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof Unreached) return each
  return undefined
}
