import type { BrowserContext, defineConfig, Page } from '@playwright/test'
import { Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import express from 'express'
import fc from 'fast-check'
import { Redis as IORedis } from 'ioredis'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { createClient } from 'redis'
import * as index from 'stuntdouble'
import { createSandbox, type Sandbox, type Scenario } from 'stuntdouble'
import * as checks from 'stuntdouble/checks'
import { connect, type RemoteSandbox } from 'stuntdouble/client'
import * as fastCheck from 'stuntdouble/fast-check'
import { replaceFetch } from 'stuntdouble/fetch'
import * as msw from 'stuntdouble/msw'
import * as fast from 'stuntdouble/msw/fast'
import * as collections from 'stuntdouble/msw-data'
import { nockScopes } from 'stuntdouble/nock'
import { nodeListener } from 'stuntdouble/node'
import type * as playwright from 'stuntdouble/playwright'
import * as realRedis from 'stuntdouble/real-redis'
import * as redisPort from 'stuntdouble/redis'
import * as report from 'stuntdouble/report'
import { playScenario, scenarios } from 'stuntdouble/scenarios'
import * as servers from 'stuntdouble/server'
import { usage } from 'stuntdouble/stats'
import { expect, type useSandbox } from 'stuntdouble/vitest'
import { vi } from 'vitest'
import { commandOf, entryOf, messageTo } from '../../matchers/index.js'

/** What examples of JSDoc may use without importing it: the package, the SDKs, and a small shop around a sandbox. @public */
export type LocalScope = Parts<Sandbox> & Shop & typeof library
/** The same around a sandbox on a server. @public */
export type RemoteScope = Parts<RemoteSandbox> & Shop & typeof library

const library = {
  ...index,
  ...checks,
  ...fastCheck,
  ...collections,
  ...msw,
  ...fast,
  ...realRedis,
  ...redisPort,
  ...report,
  ...servers,
  connect,
  createClient,
  commandOf,
  express,
  entryOf,
  expect,
  fc,
  http,
  HttpResponse,
  IORedis,
  messageTo,
  nockScopes,
  nodeListener,
  playScenario,
  Redis,
  replaceFetch,
  scenarios,
  setupServer,
  usage,
  vi,
}

const partNames = [
  'clock',
  'destinations',
  'faults',
  'outbound',
  'queue',
  'stats',
  'store',
  'traffic',
  'workflow',
] as const

type Parts<S extends Sandbox | RemoteSandbox> = { readonly sandbox: S } & Pick<S, (typeof partNames)[number]>

/** The app of the examples: it takes orders at a URL, charges a bank and approves what it has shipped. */
interface Shop {
  /** Where orders are delivered to. The destination responds 200. */
  readonly url: string
  /** An order that is published and delivered in a minute. */
  readonly message: index.Message
  /** Publishes an order and stores that it was paid. */
  readonly checkout: () => Promise<void>
  /** Handles the delivery of an order: stores that it was charged, once. */
  readonly ordersRoute: (request: Request) => Promise<Response>
  /** A client of the data store, over `fetch`. */
  readonly redis: Redis
  /** A client of the workflow SDK. */
  readonly client: Client
  /** The endpoint of a workflow with the step `charge`, a sleep of an hour, and a wait for the event `approved`. */
  readonly POST: (request: Request) => Promise<Response>
  /** A run of that workflow, which has just been triggered. */
  readonly run: index.WorkflowRun
  /** An outage, as a scenario. */
  readonly outage: Scenario
  /** A message that failed permanently. */
  readonly deadLetter: index.DeadLetter
  /** What that run has done until its end. */
  readonly history: index.RunHistory
  /** A client that takes one piece out of the stock, in one command. */
  readonly buyOne: () => Promise<void>
  /** Handles the delivery of an order if its signature is right. */
  readonly verifyingRoute: (request: Request) => Promise<Response>
  /** Files by their names; nothing is written to the disk. */
  readonly writeFileSync: (name: string, text: string) => void
  readonly readFileSync: (name: string, encoding: 'utf8') => string
  /** In Playwright. */
  readonly page: Page
  readonly context: BrowserContext
  /** A server with a tenant that was used. */
  readonly server: servers.StuntdoubleServer
  readonly test: (title: string, run: (fixtures: { sandbox: Sandbox; page: Page }) => unknown) => unknown
  readonly useSandbox: typeof useSandbox
  readonly defineConfig: typeof defineConfig
  readonly routeRequests: typeof playwright.routeRequests
  readonly routeSandbox: typeof playwright.routeSandbox
  readonly sandboxEnv: typeof playwright.sandboxEnv
}

const url = 'https://shop.test/orders'
const workflowUrl = 'https://shop.test/api/order'

/** Makes a value of the shop when an example uses it. */
type Makers = { readonly [Name in keyof Shop]: (sandbox: Sandbox) => Shop[Name] | Promise<Shop[Name]> }

const files = new WeakMap<Sandbox, Map<string, string>>()

function filesOf(sandbox: Sandbox): Map<string, string> {
  const known = files.get(sandbox) ?? new Map<string, string>()
  files.set(sandbox, known)
  return known
}

/** Of Playwright, in whose programs such an example runs. */
const onlyTyped = (): never => undefined as never

const shop: Makers = {
  url: () => url,
  message: (sandbox) => sandbox.queue.publish({ to: url, body: { id: 42 }, delay: '1m' }),
  checkout: (sandbox) => async () => {
    sandbox.queue.publish({ to: url, body: { id: 42 } })
    sandbox.store.run('SET', 'order:42', 'paid')
  },
  ordersRoute: () => async (request) => {
    const { id } = (await request.json()) as { id: number }
    await Redis.fromEnv().set(`charged:${id}`, 1)
    return new Response()
  },
  buyOne: () => async () => {
    await Redis.fromEnv().decr('stock')
  },
  verifyingRoute: () => async (request) => {
    const signature = request.headers.get('upstash-signature') ?? ''
    const isValid = await new Receiver().verify({ signature, body: await request.text(), url }).catch(() => false)
    return new Response(null, { status: isValid ? 200 : 401 })
  },
  redis: ({ urls, tokens }) => new Redis({ url: urls.store, token: tokens.store }),
  client: ({ urls, tokens }) => new Client({ baseUrl: urls.queue, token: tokens.queue }),
  POST: endpoint,
  run: trigger,
  history: async (sandbox) => (await finishedRun(sandbox)).history(),
  outage: () =>
    index.defineScenario('outage', [
      { on: 'queue.delivery', match: { url: 'https://shop.test/*' }, times: 2, fault: index.fault.hang() },
    ]),
  async deadLetter(sandbox) {
    sandbox.destinations.respond('https://shop.test/broken', 500)
    sandbox.queue.publish({ to: 'https://shop.test/broken', retries: 0 })
    await sandbox.clock.drain()
    return sandbox.queue.deadLetters[0]!
  },
  writeFileSync: (sandbox) => (name, text) => void filesOf(sandbox).set(name, text),
  readFileSync: (sandbox) => (name) => {
    const text = filesOf(sandbox).get(name)
    if (text !== undefined) return text
    const file = name === 'run.json' ? sandbox.workflow.runs[0]?.history() : sandbox.traffic.toTrace()
    return JSON.stringify(file)
  },
  page: onlyTyped,
  context: onlyTyped,
  defineConfig: onlyTyped,
  routeRequests: onlyTyped,
  routeSandbox: onlyTyped,
  sandboxEnv: onlyTyped,
  server: () => servers.startServer({ port: 0 }),
  test: (sandbox) => (_, run) => run({ sandbox, page: undefined as never }),
  useSandbox: () => (options) => createSandbox({ seed: options?.seed ?? 1 }),
}

/** Triggers a run of the workflow. */
export async function trigger(sandbox: Sandbox): Promise<index.WorkflowRun> {
  sandbox.destinations.on(workflowUrl, endpoint())
  const client = new Client({ baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue })
  const { workflowRunId } = await client.trigger({ url: workflowUrl })
  return sandbox.workflow.getRun(workflowRunId)
}

/** A run of the workflow that has ended. */
export async function finishedRun(sandbox: Sandbox): Promise<index.WorkflowRun> {
  const run = await trigger(sandbox)
  sandbox.workflow.stubEvent('approved')
  await run.advanceToEnd()
  return run
}

function endpoint(): Shop['POST'] {
  const { POST } = serve<unknown, unknown>(
    async (context) => {
      await context.run('charge', () => ({ id: 'ch_1' }))
      await context.sleep('rest', 3600)
      await context.waitForEvent('approval', 'approved', { timeout: '1d' })
    },
    { receiver: undefined as never, url: workflowUrl },
  )
  return POST as unknown as Shop['POST']
}

export const scopeNames: readonly string[] = ['sandbox', ...partNames, ...Object.keys(library), ...Object.keys(shop)]

/**
 * The values that an example uses, by their names.
 * @param sandbox in this process, or on a server
 * @param local the same one in this process: for the shop
 */
export async function scopeOf(
  names: readonly string[],
  sandbox: Sandbox | RemoteSandbox,
  local: Sandbox,
): Promise<Readonly<Record<string, unknown>>> {
  local.destinations.respond(url, 200)
  const scope: Record<string, unknown> = {}
  for (const name of names) {
    const make = shop[name as keyof Shop] as ((sandbox: Sandbox) => unknown) | undefined
    if (name === 'sandbox') scope[name] = sandbox
    else if (make !== undefined) scope[name] = await make(local)
    else scope[name] = name in library ? Reflect.get(library, name) : Reflect.get(sandbox, name)
  }
  return scope
}
