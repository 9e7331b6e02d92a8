import { createSandbox, type Sandbox, type SandboxOptions } from 'stuntdouble'
import type { Way } from './client.js'
import type { EchoWorld } from './echo-world.js'
import type { Sight } from './request-faults.js'
import type { Need } from './transport.js'

export interface OpenWay extends Way {
  close(): Promise<void> | void
}

/** What a way leads to: a sandbox, or a world of echoes. */
export type Served = Sandbox | EchoWorld

export interface Led {
  readonly fetch: typeof globalThis.fetch
  close(): Promise<void> | void
}

/** How a tool is led to whatever is served, and what it does otherwise than fetch. */
export interface Leading {
  lead(served: Served): Promise<Led>
  /** Whether requests to other origins pass through and must be left alone. */
  readonly passesForeign: boolean
  /** A sentence about event streams, for a tool that cannot carry them. */
  readonly refusesStreams?: string
  readonly exceptions?: readonly (
    | 'a body on GET is taken'
    | 'errors are no TypeErrors'
    | 'what was aborted before is sent'
    | 'the service does not see aborts'
    | 'a stream does not see that its reader has stopped'
  )[]
}

/** One way to a sandbox: a row of the table. It leads to anything, or opens a sandbox of its own. */
export interface WayKind {
  readonly name: string
  /** Why it cannot be opened on this machine. */
  readonly missing?: string
  /** What it cannot carry, and why. */
  readonly cannot: Partial<Record<Need, string>>
  /** What its clients see of faults. */
  readonly sight?: Sight
  readonly leading?: Leading
  /** An older version of a tool: what it does otherwise shows in the world of echoes. */
  readonly echoesOnly?: boolean
  open?(): Promise<OpenWay>
}

export const options: SandboxOptions = { seed: 7, startAt: '2030-01-01T09:00:00Z', warn: () => {} }
export const globalFetch: typeof globalThis.fetch = async (input, init) => globalThis.fetch(input, init)

/** A sandbox at the end of a way. */
export async function openWay({ open, leading }: WayKind): Promise<OpenWay> {
  if (open !== undefined) return open()
  const sandbox = createSandbox(options)
  const { fetch, close } = await leading!.lead(sandbox)
  return {
    sandbox,
    fetch,
    close: async () => {
      await close()
      sandbox.dispose()
    },
  }
}
