import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { onTestFinished } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Duration, type Sandbox, type SandboxOptions } from '../../src/index.js'

type Serve = typeof serve<unknown, unknown>
type Route = Parameters<Serve>[0]
type Options = Parameters<Serve>[1]

/** An app with workflows, unmodified: the SDK's `fetch` is the process's own. */
export interface WorkflowWorld extends Sandbox {
  readonly client: Client
  /** Serves a workflow at a path of the app. @returns its url */
  serve(path: string, route: Route, options?: Options): string
  /** Answers of the app's endpoints, oldest first. */
  readonly calls: readonly { readonly path: string; readonly status: number; readonly body: string }[]
  /** Virtual time that each delivery takes before and again after the app has worked; none unless set. */
  lag?: Duration
}

export const app = 'https://app.test'

export function workflowWorld(options: SandboxOptions = {}): WorkflowWorld {
  const sandbox = createSandbox({ seed: 16, vocabulary: 'upstash', warn: () => {}, ...options })
  replaceFetch(sandbox)
  onTestFinished(() => sandbox.dispose())
  const connection = { baseUrl: sandbox.addresses.queue, token: sandbox.tokens.queue }
  const calls: { path: string; status: number; body: string }[] = []
  const made: WorkflowWorld = Object.assign(sandbox, {
    client: new Client(connection),
    calls,
    serve(path: string, route: Route, given: Options = {}): string {
      const { POST } = serve<unknown, unknown>(route, {
        qstashClient: new QueueClient(connection),
        receiver: undefined as never,
        ...given,
      })
      sandbox.destinations.on(app + path, async (request, task) => {
        if (made.lag !== undefined) await task.sleep(made.lag)
        const response = await (POST as unknown as (request: Request) => Promise<Response>)(request)
        calls.push({ path, status: response.status, body: await response.clone().text() })
        if (made.lag !== undefined) await task.sleep(made.lag)
        return response
      })
      return app + path
    },
  })
  return made
}
