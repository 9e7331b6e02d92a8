import type { Sandbox } from '../sandbox.js'

type Fetch = typeof globalThis.fetch

/** Sandboxes behind the replaced `fetch`, newest first: of two that own an address the newer one answers. */
let attached: readonly Sandbox[] = []
let original: Fetch | undefined

/**
 * Replaces `globalThis.fetch` for this sandbox's addresses only; every other request goes on to the `fetch` that was
 * there before. Restored by the returned function, by `using`, or when the sandbox is disposed.
 *
 * A request to the vendor's real hosts is refused while any sandbox is attached: no test hits production by accident.
 * @example
 * using sandbox = createSandbox({ vocabulary: 'upstash' })
 * replaceFetch(sandbox)
 * await Redis.fromEnv(sandbox.env).get('greeting')
 */
export function replaceFetch(sandbox: Sandbox): (() => void) & Disposable {
  if (original === undefined) {
    original = globalThis.fetch
    globalThis.fetch = replacement
  }
  attached = [sandbox, ...attached]
  const restore = (): void => {
    attached = attached.filter((other) => other !== sandbox)
    // Somebody may have wrapped the replacement meanwhile; then it stays, and passes everything through.
    if (attached.length === 0 && globalThis.fetch === replacement) {
      globalThis.fetch = original!
      original = undefined
    }
  }
  sandbox.onDispose(restore)
  return Object.assign(restore, { [Symbol.dispose]: restore })
}

const replacement: Fetch = (input, init) => {
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : (input as Request).url
  for (const sandbox of attached) if (sandbox.owns(url)) return sandbox.fetch(input as Request | string | URL, init)
  const real = attached.flatMap((sandbox) => sandbox.vocabulary.productionHosts).find((host) => isOn(host, url))
  if (real !== undefined) {
    return Promise.reject(
      new Error(
        `A test was about to call ${new URL(url).host}, a real host of the service. ` +
          `Point the client at the sandbox instead: its addresses and tokens are in sandbox.env (${[...new Set(attached.map((sandbox) => sandbox.addresses.store))].join(', ')}).`,
      ),
    )
  }
  return original!(input, init)
}

function isOn(host: string, url: string): boolean {
  const name = URL.canParse(url) ? new URL(url).hostname : ''
  return name === host || name.endsWith(`.${host}`)
}
