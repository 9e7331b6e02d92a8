import { checkOptionNames } from '../kernel/nearest-name.js'
import { baseUrlsOf } from '../protocol/address.js'
import { isRealHost } from '../protocol/dialect.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { layOver, methodOf } from './fetch-layers.js'
import { refuseLookups } from './lookup.js'
import { type Blocking, isRealUrl, mayReachRealHosts, type RealHostOptions, strayed } from './real-hosts.js'
import { useForClients } from './running-sandbox.js'

type Caller = Partial<Pick<Sandbox, 'outbound'>>

/**
 * Replaces `globalThis.fetch` for the sandbox's URLs and for hosts registered in `sandbox.outbound`. All other requests
 * go to the previous `fetch`. To restore the previous `fetch`, call the returned function, use `using`, or dispose the
 * sandbox. Several replacements can be active and can end in any order. If several sandboxes have the same URL, the
 * latest replacement responds. While a replacement is active, requests to the vendor's real hosts are rejected, so no
 * test reaches production by accident; `realHosts: 'allow'` lets them pass. Clients that do not use the global `fetch`, such as clients over `node:http`,
 * fail with an error that names an alternative. Clients of `replaceIoredis()` and `replaceNodeRedis()` use the sandbox of
 * the latest replacement.
 * @example
 * using sandbox = createSandbox()
 * replaceFetch(sandbox)
 * const redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store })
 * await redis.set('greeting', 'hello')
 * expect(sandbox.store).toHaveKey('greeting')
 */
export function replaceFetch(
  sandbox: Pick<Sandbox, 'fetch' | 'onDispose' | 'owns'> & Blocking & Caller,
  options: RealHostOptions = {},
): (() => void) & Disposable {
  checkOptionNames('replaceFetch()', options, { realHosts: true })
  const blocks = !mayReachRealHosts(sandbox, options)
  const endLayer = layOver((url, input, init, pass) => {
    if (sandbox.owns(url)) return sandbox.fetch(input, init)
    // For a real host that is registered in `sandbox.outbound`, the sandbox responds. The host is never contacted.
    if (sandbox.outbound?.takes(methodOf(input, init), url)) return sandbox.outbound.fetch(input, init)
    if (!blocks || !isRealUrl(url)) return pass()
    const error = new Error(strayed(new URL(url).host, sandbox))
    const refuse = (): never => {
      throw error
    }
    // The URL does not belong to the sandbox, so `sandbox.fetch` rejects the request. If an app sends such requests in
    // a loop, `sandbox.fetch` also pauses, so that the host's timers can run.
    return sandbox.fetch(input, init).then(refuse, refuse)
  })
  const endRefusals = refuseLookups((hostname) => missed(hostname, sandbox, blocks))
  const endUse = useForClients({ sandbox })
  const restore = (): void => {
    endRefusals()
    endLayer()
    endUse()
  }
  sandbox.onDispose(restore)
  return Object.assign(restore, { [Symbol.dispose]: restore })
}

/**
 * Returns the error for a host name of the sandbox or of the vendor. Only a client that bypasses the replaced `fetch`
 * looks up such a name. Returns `undefined` for all other host names.
 */
function missed(hostname: string, sandbox: Blocking, blocks: boolean): Error | undefined {
  if (isRealHost(hostname)) return blocks ? new Error(strayed(hostname, sandbox)) : undefined
  const isOurs = baseUrlsOf(sandbox.urls).some((address) => new URL(address).hostname === hostname)
  // Do not block look-ups of localhost, because other servers may listen on this machine.
  if (!isOurs || /^(?:.*\.)?localhost\.?$/.test(hostname)) return undefined
  return new Error(
    `${hostname} belongs to the sandbox, but replaceFetch() intercepts only the global fetch, and this client uses node:http or an earlier reference to fetch. Use nockScopes() from stuntdouble/nock, mswHandlers() from stuntdouble/msw, or startServer() from stuntdouble/server.`,
  )
}
