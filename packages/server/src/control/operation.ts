import type * as v from 'valibot'
import type { QueueRegion } from '../../../../src/protocol/address.js'
import type { RawRequest } from '../../../../src/protocol/service.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { Tool } from './tool.js'

/** What an order knows about its request. */
export interface OperationContext {
  /** Its name at this server. */
  readonly tenant: string
  readonly query: URLSearchParams
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly call: RawRequest
  /** Serves a sandbox as one more tenant. @returns its name: the one that is asked for, or a free one like it */
  adopt(sandbox: Sandbox, name: string | undefined): string
  /** An address of the server as the one who asks has reached it; other texts as they are. */
  reached(address: string): string
}

/** One order that a tenant takes: one row of the control API. */
export interface ControlOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/_control/{tenant}`; `:name` is a parameter. */
  readonly path: string
  readonly summary: string
  /** What the body must be; none is taken where there is no schema. */
  readonly body?: v.GenericSchema | undefined
  /** The body as the document describes it, where `body` leaves the details to the engine. */
  readonly describes?: v.GenericSchema
  /** A body that would be taken, for the documentation and for the sentence that refuses another. */
  readonly example?: unknown
  /** Query parameters and what each says. */
  readonly query?: Readonly<Record<string, string>>
  /** It is about a store that is in this process, and has a past there. */
  readonly storedHere?: true
  /** What a good answer is, where it is not JSON. */
  readonly answers?: 'text/plain' | 'text/html' | 'text/event-stream'
  /** How an agent gives it, where it may. */
  readonly tool?: Tool
  /** What is answered, as JSON unless it is an answer by itself; nothing is `{}`. */
  run(sandbox: Sandbox, body: unknown, asked: OperationContext): unknown
}

/** An order about the queue or the workflows of one region. */
export interface RegionalOperation extends Omit<ControlOperation, 'run'> {
  run(region: Pick<Sandbox, 'queue' | 'workflow'>, body: unknown, asked: OperationContext): unknown
}

/** Orders that may name a region; without one they are about the home region. */
export function regional(rows: readonly RegionalOperation[]): readonly ControlOperation[] {
  return rows.map((row) => ({
    ...row,
    query: { ...row.query, region: '`us-east-1` or `eu-central-1`; the home region without it' },
    run: (sandbox, body, asked) => row.run(regionOf(sandbox, asked.query.get('region')), body, asked),
  }))
}

function regionOf(sandbox: Sandbox, name: string | null): Pick<Sandbox, 'queue' | 'workflow'> {
  if (name === null) return sandbox
  const region = name as QueueRegion
  return { queue: sandbox.queueIn(region), workflow: sandbox.workflowIn(region) }
}

interface OrderOf<S extends v.GenericSchema> extends Omit<ControlOperation, 'body' | 'run'> {
  readonly body: S
  run(sandbox: Sandbox, body: v.InferOutput<S>, asked: OperationContext): unknown
}

/** A row whose `run` gets the type that its schema says. */
export function order<S extends v.GenericSchema>(row: OrderOf<S>): ControlOperation {
  return row as ControlOperation
}
