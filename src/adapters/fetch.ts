import { isRealHost, realServiceAt } from '../protocol/dialect.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { layOver, methodOf } from './fetch-layers.js'
import { refuseLookups } from './lookup.js'

interface StrayNoter {
  /** Called with a message about each blocked request to a real host. */
  readonly noteStray?: (sentence: string) => void
}
type Caller = Partial<Pick<Sandbox, 'outbound'>>

/**
 * Replaces `globalThis.fetch` for the sandbox's URLs and for hosts registered in `sandbox.outbound`. All other requests
 * go to the previous `fetch`. To restore the previous `fetch`, call the returned function, use `using`, or dispose the
 * sandbox. Several replacements can be active and can end in any order. If several sandboxes have the same URL, the
 * latest replacement responds. While a replacement is active, requests to the vendor's real hosts are rejected, so no
 * test reaches production by accident. Clients that do not use the global `fetch`, such as clients over `node:http`,
 * fail with an error that names an alternative.
 * @example
 * using sandbox = createSandbox()
 * replaceFetch(sandbox)
 * const redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store })
 * await redis.set('greeting', 'hello')
 * expect(sandbox.store).toHaveKey('greeting')
 */
export function replaceFetch(
  sandbox: Pick<Sandbox, 'urls' | 'fetch' | 'onDispose' | 'owns'> & StrayNoter & Caller,
): (() => void) & Disposable {
  const endLayer = layOver((url, input, init, pass) => {
    if (sandbox.owns(url)) return sandbox.fetch(input, init)
    // For a real host that is registered in `sandbox.outbound`, the sandbox responds. The host is never contacted.
    if (sandbox.outbound?.takes(methodOf(input, init), url)) return sandbox.outbound.fetch(input, init)
    if (!isReal(url)) return pass()
    const error = strayed(url, sandbox)
    const refuse = (): never => {
      throw error
    }
    // Let `sandbox.fetch` reject the request, because the URL does not belong to the sandbox. If a loop sends such
    // requests, `sandbox.fetch` also pauses, so that the host's timers can run.
    return sandbox.fetch(input, init).then(refuse, refuse)
  })
  const endRefusals = refuseLookups((hostname) => missed(hostname, sandbox))
  const restore = (): void => {
    endRefusals()
    endLayer()
  }
  sandbox.onDispose(restore)
  return Object.assign(restore, { [Symbol.dispose]: restore })
}

/**
 * Returns the error for a host name of the sandbox or of the vendor. Only a client that bypasses the replaced `fetch`
 * looks up such a name. Returns `undefined` for all other host names.
 */
function missed(hostname: string, sandbox: Pick<Sandbox, 'urls'> & StrayNoter): Error | undefined {
  const url = `https://${hostname}/`
  if (isReal(url)) return strayed(url, sandbox)
  const { store, queue, mgmt, regions } = sandbox.urls
  const isOurs = [store, queue, mgmt, ...Object.values(regions)].some(
    (address) => new URL(address).hostname === hostname,
  )
  // Look-ups of localhost pass, because other servers may listen on this machine.
  if (!isOurs || /^(?:.*\.)?localhost\.?$/.test(hostname)) return undefined
  return new Error(
    `${hostname} belongs to the sandbox, but replaceFetch() intercepts only the global fetch, and this client uses node:http or an earlier reference to fetch. Use nockScopes() from stuntdouble/nock, mswHandlers() from stuntdouble/msw, or startServer() from stuntdouble/server.`,
  )
}

function isReal(url: string): boolean {
  return URL.canParse(url) && isRealHost(new URL(url).hostname)
}

/**
 * Records a blocked request in the sandbox and returns the error. The sandbox reports the request at the end of the
 * test, because the app may swallow the error.
 */
function strayed(url: string, { urls, noteStray }: Pick<Sandbox, 'urls'> & StrayNoter): Error {
  const { host } = new URL(url)
  const sentence =
    `A request to ${host}, a real host of the service, was blocked. ` +
    `Point the client at the sandbox: ${urls[realServiceAt(host)]}, with the variables and tokens of sandbox.env. ` +
    'If a module creates the client when it is imported, call useSandbox() in a setup file. The setup file runs before the import.'
  noteStray?.(sentence)
  return new Error(sentence)
}
