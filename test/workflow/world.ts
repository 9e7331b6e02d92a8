import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import type { Duration, Policy, Sandbox, SandboxOptions } from '../../src/index.js'
import { connectedSandbox } from '../support/sandbox.js'

type Serve = typeof serve<unknown, unknown>
type Route = Parameters<Serve>[0]
type Options = Parameters<Serve>[1]

/** An app with workflows, unmodified: the SDK's `fetch` is that of the process. */
export interface WorkflowWorld extends Sandbox {
  readonly client: Client
  /**
   * Serves a workflow at a path of the app.
   * @returns its URL
   */
  serve(path: string, route: Route, options?: Options): string
  /** Runs around each response of an endpoint. Default: nothing. */
  around: (call: EndpointCall) => Promise<Response>
  /** Sends a request to the queue with its token. */
  ask(
    method: string,
    path: string,
    more?: Asked,
  ): Promise<{ readonly status: number; readonly json: Loose; readonly headers: Headers }>
  /** Responses of the app's endpoints, oldest first. */
  readonly asked: readonly { readonly path: string; readonly status: number; readonly body: string }[]
  /** Virtual time before and after the work of the app in each delivery. Default: none. */
  lag?: Duration
}

// biome-ignore lint/suspicious/noExplicitAny: responses of many shapes, and workflow contexts with types that the SDK keeps
export type Loose = any

/** One delivery to an endpoint. */
export interface EndpointCall {
  readonly path: string
  /** Steps that it carries, the payload first. */
  readonly steps: readonly Step[]
  readonly headers: Headers
  /** Original body. */
  readonly body: string
  sleep(wait: Duration): Promise<void>
  answer(): Promise<Response>
}

interface Step {
  readonly stepId?: number
  readonly stepName?: string
  readonly targetStep?: number
  readonly out?: string
}

export interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export const app = 'https://app.test'

/** Policies of every sandbox, unless a test sets them. The tests of older versions of the service change them. */
export const worldPolicy: Partial<Policy> = {}

export function workflowWorld(options: SandboxOptions = {}): WorkflowWorld {
  const sandbox = connectedSandbox({ seed: 16, ...options, policy: { ...worldPolicy, ...options.policy } })
  const connection = { baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue }
  const stepsIn = (body: string): Step[] => {
    try {
      return (JSON.parse(body) as { body: string }[]).map((raw) => JSON.parse(atob(raw.body) || 'null') as Step)
    } catch {
      return []
    }
  }
  const calls: { path: string; status: number; body: string }[] = []
  const world: WorkflowWorld = Object.assign(sandbox, {
    around: ({ answer }: EndpointCall) => answer(),
    client: new Client(connection),
    asked: calls,
    async ask(method: string, path: string, { headers, body }: Asked = {}) {
      const response = await sandbox.fetch(sandbox.urls.queue + path, {
        method,
        headers: { authorization: `Bearer ${sandbox.tokens.queue}`, ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      let json: unknown = text
      try {
        json = JSON.parse(text)
      } catch {}
      return { status: response.status, json, headers: response.headers }
    },
    serve(path: string, route: Route, given: Options = {}): string {
      const { POST } = serve<unknown, unknown>(route, {
        qstashClient: new QueueClient(connection),
        receiver: undefined as never,
        ...given,
      })
      sandbox.destinations.on(app + path, async (request, task) => {
        if (world.lag !== undefined) await task.sleep(world.lag)
        const body = await request.clone().text()
        const response = await world.around({
          path,
          body,
          steps: stepsIn(body),
          headers: request.headers,
          sleep: (wait) => task.sleep(wait),
          answer: () => (POST as unknown as (request: Request) => Promise<Response>)(request),
        })
        calls.push({ path, status: response.status, body: await response.clone().text() })
        if (world.lag !== undefined) await task.sleep(world.lag)
        return response
      })
      return app + path
    },
  })
  return world
}
