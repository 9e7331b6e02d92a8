import { callerLine } from '../kernel/caller-line.js'
import type { SandboxUrls } from '../protocol/address.js'
import { layOver } from './fetch-layers.js'
import { refuseLookups } from './lookup.js'

/** HTTP's own word for it: the request was directed at somebody who does not answer for its address. */
const misdirected = 421

/**
 * Requests are refused where a client looks the host up, which is below msw and nock; a client of `fetch` gets an answer
 * that says why, because the SDKs try again for seconds when there is none.
 * @param why the sentence for an address, whose origin it is given
 * @param note hears each sentence: an app may swallow what it is told
 */
export function respondUnreached(
  addresses: SandboxUrls,
  why: (origin: string) => string,
  note: (sentence: string) => void = () => {},
): () => void {
  const { store, queue, mgmt, regions } = addresses
  const urls = [store, queue, mgmt, ...Object.values(regions)].map((address) => new URL(address))
  const origins = new Map(urls.map(({ hostname, origin }) => [hostname, origin]))
  const endLookups = refuseLookups((hostname) => {
    const origin = origins.get(hostname)
    return origin === undefined ? undefined : new Unreached(why(origin))
  })
  const endLayer = layOver(async (_url, _input, _init, pass) => {
    const line = callerLine(new Error('called here'))
    try {
      return await pass()
    } catch (error) {
      const unreached = unreachedIn(error)
      if (unreached === undefined) throw error
      const sentence = `${unreached.message}${line === '' ? '' : ` It was called at ${line}.`}`
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

/** `fetch` wraps what went wrong below it. */
function unreachedIn(error: unknown): Unreached | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof Unreached) return each
  return undefined
}
