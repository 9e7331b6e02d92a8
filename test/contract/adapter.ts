import { createSandbox, type Sandbox, type SandboxOptions } from 'stuntdouble'
import type { EchoWorld } from './echo-world.js'
import type { FaultVisibility } from './request-faults.js'
import type { Need } from './transport.js'

/** A sandbox, and a `fetch` whose requests reach it through an adapter. */
export interface ConnectedSandbox {
  readonly sandbox: Sandbox
  readonly fetch: typeof globalThis.fetch
  close(): Promise<void> | void
}

/** Target of an adapter: a sandbox, or the echo service. */
export type Target = Sandbox | EchoWorld

export interface Connection {
  readonly fetch: typeof globalThis.fetch
  close(): Promise<void> | void
}

/** How a tool is connected to any target, and how it differs from fetch. */
export interface Connector {
  connect(target: Target): Promise<Connection>
  /** Whether requests to other origins pass through and must be left alone. */
  readonly passesOtherOrigins: boolean
  /** Part of the error for an event stream, for a tool that does not support them. */
  readonly streamError?: string
  readonly exceptions?: readonly (
    | 'a body on GET is taken'
    | 'errors are no TypeErrors'
    | 'what was aborted before is sent'
    | 'the service does not see aborts'
    | 'a stream does not see that its client stopped reading'
  )[]
}

interface AdapterBase {
  readonly name: string
  /** Reason why it cannot be opened on this machine. */
  readonly missing?: string
  /** What it does not support, and the reason. */
  readonly cannot: Partial<Record<Need, string>>
  /** Effects of faults that its clients observe. */
  readonly visibility?: FaultVisibility
}

/** Connects to any target. */
export interface ConnectingAdapter extends AdapterBase {
  readonly connector: Connector
  /** An older version of a tool, whose differences show in the echo service. */
  readonly echoesOnly?: boolean
}

/** Connects to a sandbox only. */
export interface SandboxAdapter extends AdapterBase {
  openSandbox(options: SandboxOptions): Promise<ConnectedSandbox>
}

export type Adapter = ConnectingAdapter | SandboxAdapter

/** The limit is low, so that a body over it is smaller than 10 MB. */
export const maxRequest = 400_000
export const options: SandboxOptions = {
  seed: 7,
  startAt: '2030-01-01T09:00:00Z',
  onWarning: () => {},
  policy: { maxRequestSize: maxRequest },
}
export const globalFetch: typeof globalThis.fetch = async (input, init) => globalThis.fetch(input, init)

export async function openSandbox(adapter: Adapter, given = options): Promise<ConnectedSandbox> {
  if ('openSandbox' in adapter) return adapter.openSandbox(given)
  const sandbox = createSandbox(given)
  const { fetch, close } = await adapter.connector.connect(sandbox)
  return {
    sandbox,
    fetch,
    close: async () => {
      await close()
      sandbox.dispose()
    },
  }
}
