import { isRealHost, realServiceAt } from '../protocol/dialect.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { layOver, methodOf } from './fetch-layers.js'
import { refuseLookups } from './lookup.js'

interface StrayNoter {
  readonly noteStray?: (sentence: string) => void
}
type Caller = Partial<Pick<Sandbox, 'outbound'>>

/**
 * Replaces `globalThis.fetch` for this sandbox's addresses and for what `sandbox.outbound` has registered; every other
 * request goes on to the `fetch` that was there before. Restored by the returned function, by `using`, or when the sandbox
 * is disposed. Several replacements may lie on top of each other and end in any order; of two that own an address the newer
 * one answers.
 *
 * A request to the vendor's real hosts is refused meanwhile: no test hits production by accident. Clients that do not
 * use the global `fetch`, over `node:http` for example, fail with a sentence that says what to use.
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
    // A real host of the service may be registered, too: then it is not called.
    if (sandbox.outbound?.takes(methodOf(input, init), url)) return sandbox.outbound.fetch(input, init)
    if (!isReal(url)) return pass()
    const error = strayed(url, sandbox)
    const refuse = (): never => {
      throw error
    }
    // The sandbox refuses what is not its own, too, and lets the host's timers run in a loop of that.
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

/** What a connection to a host is told that should have been a call of the replaced `fetch`. */
function missed(hostname: string, sandbox: Pick<Sandbox, 'urls'> & StrayNoter): Error | undefined {
  const url = `https://${hostname}/`
  if (isReal(url)) return strayed(url, sandbox)
  const { store, queue, mgmt, regions } = sandbox.urls
  const isOurs = [store, queue, mgmt, ...Object.values(regions)].some(
    (address) => new URL(address).hostname === hostname,
  )
  // A server of somebody else's may listen on this machine.
  if (!isOurs || /^(?:.*\.)?localhost\.?$/.test(hostname)) return undefined
  return new Error(
    `${hostname} is an address of the sandbox, and stuntdouble/fetch answers there only for the global fetch. This client connects in another way, over node:http or with an earlier reference to fetch: use nockScopes() from stuntdouble/nock, mswHandlers() from stuntdouble/msw, or a server: startServer() from stuntdouble/server.`,
  )
}

function isReal(url: string): boolean {
  return URL.canParse(url) && isRealHost(new URL(url).hostname)
}

/** An application may swallow the error, so the sandbox remembers it for the end of the test. */
function strayed(url: string, { urls, noteStray }: Pick<Sandbox, 'urls'> & StrayNoter): Error {
  const { host } = new URL(url)
  const sentence =
    `A test was about to call ${host}, a real host of the service. ` +
    `Point the client at the sandbox instead: ${urls[realServiceAt(host)]}, with the names and tokens of sandbox.env. ` +
    'A client that is made while its module loads reads the environment then: useSandbox() in a setup file has set it by that time.'
  noteStray?.(sentence)
  return new Error(sentence)
}
