import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Sandbox, SandboxOptions } from '../sandbox.js'
import { defaultHost, defaultPort } from './config.js'
import { refusal } from './guard.js'
import { listener, sendPlain, targetOf } from './listener.js'
import { Tenants } from './tenants.js'

export interface ServerOptions extends Omit<SandboxOptions, 'base' | 'name' | 'store' | 'queue' | 'mgmt' | 'regions'> {
  /** Address to listen on. Default `127.0.0.1`, so that nobody else can reach it. */
  readonly host?: string
  /** Default 4010; 0 takes a free one. */
  readonly port?: number
  /** Receives what went wrong inside, `console.error` by default. */
  readonly report?: (text: string) => void
}

/** A server may run for days; half of this is enough for any story it has to tell. */
const defaultTrafficLimit = 200_000

/** A server of many sandboxes, one for each tenant: `http://HOST:PORT/{tenant}/{store|queue|mgmt}`. */
export interface RunningServer extends AsyncDisposable {
  readonly origin: string
  readonly host: string
  readonly port: number
  /** The sandbox of a tenant, made on first use with a clock of its own. */
  tenant(name: string): Sandbox
  /** The tenants that were used so far. */
  readonly tenants: readonly string[]
  /** Ends every connection, event streams included, and disposes every sandbox. */
  close(): Promise<void>
}

/**
 * Starts a server and resolves when it listens.
 * @example
 * await using server = await startServer({ port: 0, vocabulary: 'upstash' })
 * const { env, clock } = server.tenant('main')
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { host = defaultHost, port = defaultPort, report = (text) => console.error(text), ...world } = options
  // A server delivers for real, as far as `deliver` allows.
  const policy = { trafficLimit: defaultTrafficLimit, ...world.policy }
  const tenants = new Tenants({ fetch: globalThis.fetch, ...world, policy })
  const serve = listener(
    () => tenants.origin,
    (call) => tenants.exchange(call),
    (error, call) =>
      report(`stuntdouble: ${call.method} ${call.url} failed: ${error instanceof Error ? error.stack : error}`),
  )
  // Commands may come as paths, and some are long.
  const server = createServer({ maxHeaderSize: 1_048_576 }, (request, response) => {
    const path = targetOf(request)
    // The store answers any page, as the service does; the rest can make this machine send requests.
    const open = /^\/[^/_][^/]*\/store(?:[/?]|$)/.test(path)
    const refused = open ? undefined : refusal(request, host, path.startsWith('/_'))
    if (refused === undefined) serve(request, response)
    else sendPlain(response, 403, refused)
  })
  await listen(server, host, port)
  const address = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  tenants.origin = `http://${name}:${address.port}`
  const close = async (): Promise<void> => {
    tenants.dispose()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  return {
    origin: tenants.origin,
    host,
    port: address.port,
    tenant: (tenant) => tenants.get(tenant),
    get tenants() {
      return tenants.names
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
