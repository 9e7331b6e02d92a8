import type { Sandbox } from '../../src/index.js'
import type { Loose } from './world.js'

// A small workflow SDK that sends the settings of steps. No release of the vendor's SDK does this yet, so this one
// sends what its sources and their tests say. [workflow.md 3.5, 3.6, 5.1]

/** Settings of a step, in the form of `context.run(name, fn, settings)`. */
export interface Settings {
  readonly flowControl?: {
    readonly key: string
    readonly parallelism?: number
    readonly rate?: number
    readonly period?: number | string
  }
  readonly retries?: number
  readonly retryDelay?: string
}

/** What a delivery says about its own configuration. */
export interface Echo {
  readonly flowControl?: { key: string; parallelism: number; rate: number; period: number } | undefined
  readonly retries?: number | undefined
  readonly retryDelay?: string | undefined
  readonly hasStepConfig: boolean
}

interface Branch {
  readonly name: string
  readonly body: () => unknown
  readonly settings?: Settings
}

/** Methods that a route can call. Only `run` takes settings. */
interface SettingsContext {
  readonly payload: unknown
  readonly echo: Echo
  run<T>(name: string, body: () => T | Promise<T>, settings?: Settings): Promise<Awaited<T>>
  sleep(name: string, seconds: number): Promise<void>
  call(name: string, url: string): Promise<unknown>
  waitForEvent(name: string, eventId: string): Promise<unknown>
  all(branches: readonly Branch[]): Promise<unknown[]>
}

export type SettingsRoute = (context: SettingsContext) => Promise<unknown>

export interface SettingsOptions {
  readonly failureFunction?: () => void
  /** Sends no creation time, as SDKs before 1.4.0. */
  readonly isOld?: boolean
}

const features = 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig'
const version = 'upstash-forward-upstash-workflow-sdk-version'
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

function seconds(span: number | string): number {
  const [, count, unit = 's'] = /^(\d+)([smhd])?$/.exec(String(span)) ?? []
  return Number(count) * units[unit]!
}

/** Parses the configuration in the headers of a delivery. */
export function echoOf(headers: Headers): Echo {
  const key = headers.get('upstash-flow-control-key')
  const parts = new Map(
    (headers.get('upstash-flow-control-value') ?? '')
      .split(',')
      .map((part) => part.trim().split('=') as [string, string]),
  )
  const retries = headers.get('upstash-max-retries')
  return {
    flowControl:
      key === null
        ? undefined
        : {
            key,
            parallelism: Number(parts.get('parallelism') ?? 0),
            rate: Number(parts.get('rate') ?? 0),
            period: seconds(parts.get('period') ?? 1),
          },
    retries: retries === null ? undefined : Number(retries),
    retryDelay: headers.get('upstash-retry-delay') ?? undefined,
    hasStepConfig: headers.get('upstash-workflow-step-config') === 'true',
  }
}

/** Returns whether a delivery has the settings of a step. Only fields that the step sets are compared. */
export function isInForce({ flowControl, retries, retryDelay }: Settings, echo: Echo): boolean {
  if (retries !== undefined && echo.retries !== undefined && retries !== echo.retries) return false
  if (retryDelay !== undefined && retryDelay !== echo.retryDelay) return false
  if (flowControl === undefined) return true
  const { key, parallelism = 0, rate = 0, period = 1 } = flowControl
  const now = echo.flowControl
  return now?.key === key && now.parallelism === parallelism && now.rate === rate && now.period === seconds(period)
}

function settingsHeaders({ flowControl, retries, retryDelay }: Settings): Record<string, string> {
  const headers: Record<string, string> = {}
  if (flowControl !== undefined) {
    const { key, ...limits } = flowControl
    headers['upstash-flow-control-key'] = key
    headers['upstash-flow-control-value'] = Object.entries(limits)
      .map(([name, value]) => `${name}=${value}`)
      .join(', ')
  }
  if (retries !== undefined) headers['upstash-retries'] = String(retries)
  if (retryDelay !== undefined) headers['upstash-retry-delay'] = retryDelay
  return headers
}

/** Ends the call of the route after a submission. */
class Aborted extends Error {}
class StepFailed extends Error {
  constructor(
    readonly step: string,
    readonly reason: Error,
  ) {
    super(reason.message)
  }
}

interface RawStep {
  readonly messageId: string
  readonly body: string
  readonly callType: string
}

interface Step {
  readonly stepId: number
  readonly stepName: string
  readonly stepType: string
  readonly concurrent: number
  readonly targetStep?: number
  readonly out?: string
}

export class SettingsSdk {
  readonly #sandbox: Sandbox
  readonly #isOld: boolean
  /** Settings with which a step ran although its delivery had others. */
  readonly warnings: string[] = []

  constructor(sandbox: Sandbox, { isOld = false }: SettingsOptions = {}) {
    this.#sandbox = sandbox
    this.#isOld = isOld
  }

  async ask(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Response> {
    const { urls, tokens } = this.#sandbox
    return this.#sandbox.fetch(urls.queue + path, {
      method,
      headers: { authorization: `Bearer ${tokens.queue}`, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  }

  /** Triggers a run as `client.trigger()` does. Returns the status and the parsed response. */
  async trigger(
    url: string,
    runId: string,
    settings: Settings = {},
    body = '',
  ): Promise<{ status: number; json: Loose }> {
    const own = settingsHeaders(settings)
    const failure = Object.entries(own).map(([name, value]) => [
      name.replace('upstash-', 'upstash-failure-callback-'),
      value,
    ])
    const headers = {
      ...this.#runHeaders(url, runId),
      'upstash-workflow-init': 'true',
      ...own,
      'upstash-failure-callback': url,
      'upstash-failure-callback-workflow-runid': runId,
      'upstash-failure-callback-workflow-calltype': 'failureCall',
      'upstash-failure-callback-forward-upstash-workflow-is-failure': 'true',
      ...Object.fromEntries(failure),
    }
    const response = await this.ask('POST', '/v2/batch', {}, [{ destination: url, headers, body }])
    return { status: response.status, json: await response.json() }
  }

  #runHeaders(url: string, runId: string, createdAt?: string | null): Record<string, string> {
    return {
      'content-type': 'application/json',
      'upstash-method': 'POST',
      'upstash-workflow-init': 'false',
      'upstash-workflow-runid': runId,
      'upstash-workflow-url': url,
      'upstash-workflow-sdk-version': '1',
      'upstash-feature-set': features,
      [version]: '1',
      ...(createdAt && !this.#isOld && { 'upstash-workflow-createdat': createdAt }),
    }
  }

  /** Serves a route, as `serve()` does. */
  serve(route: SettingsRoute, options: SettingsOptions = {}): (request: Request) => Promise<Response> {
    return async (request) => {
      const answer = { 'upstash-workflow-sdk-version': '1' }
      if (request.headers.get('upstash-workflow-is-failure') === 'true') {
        options.failureFunction?.()
        return new Response('{}', { headers: answer })
      }
      const call = new Delivery(this, request, (url, id, createdAt) => this.#runHeaders(url, id, createdAt))
      try {
        if (request.headers.get('upstash-workflow-calltype') === 'fromCallback') await call.submitCallback()
        else await call.play(route)
        return new Response('{}', { headers: { ...answer, 'upstash-workflow-sdk': 'v1.9.9' } })
      } catch (error) {
        const { message } = error as Error
        const step = error instanceof StepFailed ? { 'upstash-error-step-name': error.step } : {}
        return new Response(JSON.stringify({ error: 'Error', message }), {
          status: 500,
          headers: { ...answer, ...step },
        })
      }
    }
  }
}

/** One delivery to a route. */
class Delivery {
  readonly #sdk: SettingsSdk
  readonly #request: Request
  readonly #url: string
  readonly #id: string
  readonly #createdAt: string | null
  readonly #headers: Record<string, string>
  #steps: readonly Step[] = []
  #payload = ''
  #last: Step | undefined
  #count = 0
  #held: object | undefined

  constructor(
    sdk: SettingsSdk,
    request: Request,
    headers: (url: string, id: string, createdAt: string | null) => Record<string, string>,
  ) {
    this.#sdk = sdk
    this.#request = request
    this.#url = request.headers.get('upstash-workflow-url')!
    this.#id = request.headers.get('upstash-workflow-runid')!
    this.#createdAt = request.headers.get('upstash-workflow-createdat')
    this.#headers = headers(this.#url, this.#id, this.#createdAt)
  }

  async play(route: SettingsRoute): Promise<void> {
    const raw = await this.#list()
    if (raw === undefined) return
    const [first, ...others] = raw.filter(({ callType }) => callType === 'step').map(({ body }) => atob(body))
    this.#payload = first!
    this.#steps = others.map((body) => JSON.parse(body) as Step)
    this.#last = raw.at(-1)!.callType === 'step' && others.length > 0 ? this.#steps.at(-1) : undefined
    try {
      const result = await route(this.#context())
      if (this.#held !== undefined) await this.#submit([this.#held])
      await this.#send('DELETE', `/v2/workflows/runs/${this.#id}?cancel=false`, this.#own(), JSON.stringify(result))
    } catch (error) {
      if (!(error instanceof Aborted)) throw error
    }
  }

  /** Returns the list of the run, which the SDK fetches if the delivery has none. */
  async #list(): Promise<readonly RawStep[] | undefined> {
    const body = await this.#request.text()
    if (body !== '') return JSON.parse(body) as RawStep[]
    const response = await this.#sdk.ask('GET', `/v2/workflows/runs/${this.#id}`, this.#own())
    if (response.status === 404) return undefined
    const all = (await response.json()) as RawStep[]
    const own = this.#request.headers.get('upstash-message-id')
    return all.slice(0, all.findIndex(({ messageId }) => messageId === own) + 1)
  }

  /** Submits the result of a call to a third party. */
  async submitCallback(): Promise<void> {
    const { headers } = this.#request
    const { status, body = '', header } = (await this.#request.json()) as Loose
    const step = {
      stepId: Number(headers.get('upstash-workflow-stepid')),
      stepName: headers.get('upstash-workflow-stepname'),
      stepType: 'Call',
      out: JSON.stringify({ status, body: atob(body), header }),
      concurrent: Number(headers.get('upstash-workflow-concurrent')),
    }
    await this.#send('POST', `/v2/publish/${this.#url}`, this.#headers, step).catch((error: unknown) => {
      if (!(error instanceof Aborted)) throw error
    })
  }

  #own(): Record<string, string> {
    const createdAt = this.#headers['upstash-workflow-createdat']
    return createdAt === undefined ? {} : { 'upstash-workflow-createdat': createdAt }
  }

  async #send(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<void> {
    const response = await this.#sdk.ask(method, path, headers, body)
    if (response.ok) return
    // A 400 means that the run has ended.
    if (response.status === 400 || response.status === 404) throw new Aborted()
    throw new Error(`${response.status} ${await response.text()}`)
  }

  async #submit(items: readonly object[], settings?: Settings): Promise<never> {
    const configured = items.map((item) => {
      const { own = settings, ...rest } = item as { own?: Settings; headers?: Record<string, string>; body?: object }
      const more =
        own === undefined ? {} : { ...settingsHeaders(own), 'upstash-feature-set': `${features},WF_StepConfig` }
      const { body, headers } = rest
      const shown = typeof body === 'object' ? JSON.stringify(body) : body
      return { destination: this.#url, ...rest, body: shown, headers: { ...this.#headers, ...headers, ...more } }
    })
    await this.#send('POST', '/v2/batch', {}, configured)
    throw new Aborted()
  }

  #context(): SettingsContext {
    const echo = echoOf(this.#request.headers)
    return {
      payload: this.#payload,
      echo,
      run: async (name, body, settings) => {
        const done = await this.#reach(name, settings)
        if (done !== undefined) return (done.out === undefined ? undefined : JSON.parse(done.out)) as never
        await this.#configure(settings, echo)
        const out = await this.#ran(name, body)
        this.#held = {
          body: { stepId: this.#count, stepName: name, stepType: 'Run', out: JSON.stringify(out), concurrent: 1 },
        }
        return out as never
      },
      sleep: async (name, sleepFor) => {
        if ((await this.#reach(name)) !== undefined) return
        const body = { stepId: this.#count, stepName: name, stepType: 'SleepFor', sleepFor, concurrent: 1 }
        this.#held = { body, headers: { 'upstash-delay': `${sleepFor}s` } }
      },
      call: async (name, url) => {
        const done = await this.#reach(name)
        if (done !== undefined) return JSON.parse(done.out!) as unknown
        const forward = 'upstash-callback-forward-upstash-workflow'
        return this.#submit([
          {
            destination: url,
            headers: {
              'upstash-feature-set': 'WF_NoDelete,InitialBody',
              'upstash-retries': '0',
              'upstash-workflow-calltype': 'toCallback',
              'upstash-callback': this.#url,
              'upstash-callback-workflow-calltype': 'fromCallback',
              'upstash-callback-workflow-runid': this.#id,
              'upstash-callback-workflow-url': this.#url,
              [`${forward}-callback`]: 'true',
              [`${forward}-stepid`]: String(this.#count),
              [`${forward}-stepname`]: name,
              [`${forward}-steptype`]: 'Call',
              [`${forward}-concurrent`]: '1',
            },
          },
        ])
      },
      waitForEvent: async (name, eventId) => {
        const done = await this.#reach(name)
        if (done !== undefined) return done.out === undefined ? undefined : JSON.parse(atob(done.out))
        const step = { stepId: this.#count, stepType: 'Wait', stepName: name, concurrent: 1 }
        const timeoutHeaders = Object.fromEntries(Object.entries(this.#headers).map(([key, value]) => [key, [value]]))
        const body = { url: this.#url, timeout: '1h', timeoutUrl: this.#url, timeoutHeaders, step }
        await this.#send('POST', `/v2/wait/${eventId}`, { ...this.#headers, 'upstash-workflow-calltype': 'step' }, body)
        throw new Aborted()
      },
      all: (branches) => this.#all(branches),
    }
  }

  /** Returns the result of the next step. Without a result, the held result of the previous step is submitted. */
  async #reach(name: string, settings?: Settings): Promise<Step | undefined> {
    const stepId = ++this.#count
    const done = this.#steps.find((step) => step.stepId === stepId && step.targetStep === undefined)
    if (done !== undefined) {
      if (done.stepName === name) return done
      throw new Error(`Incompatible step name. Expected '${name}', got '${done.stepName}' from the request`)
    }
    if (this.#held !== undefined) return this.#submit([this.#held], settings)
    return undefined
  }

  /** If the delivery does not have the settings of a step, requests a delivery that has them. */
  async #configure(settings: Settings | undefined, echo: Echo): Promise<void> {
    if (settings === undefined || isInForce(settings, echo)) return
    if (echo.hasStepConfig) {
      this.#sdk.warnings.push(`${this.#id} ${this.#count}`)
      return
    }
    const headers = {
      ...this.#headers,
      ...settingsHeaders(settings),
      'upstash-workflow-calltype': 'stepConfig',
      'upstash-content-based-deduplication': 'true',
      'upstash-feature-set': `${features},WF_StepConfig`,
    }
    await this.#send('POST', `/v2/publish/${this.#url}`, headers, { targetStep: this.#count, invokeCount: 0 })
    throw new Aborted()
  }

  async #ran(name: string, body: () => unknown): Promise<unknown> {
    try {
      return await body()
    } catch (error) {
      throw new StepFailed(name, error as Error)
    }
  }

  async #all(branches: readonly Branch[]): Promise<unknown[]> {
    const first = this.#count + 1
    this.#count += branches.length
    const concurrent = branches.length
    const results = branches.map((_, at) => this.#steps.find(({ stepId }) => stepId === first + at))
    if (results.every((one) => one !== undefined)) return results.map((one) => JSON.parse(one!.out!) as unknown)
    const last = this.#last
    const isPlanned = this.#steps.some(({ targetStep }) => targetStep === first)
    if (!isPlanned) {
      if (this.#held !== undefined) return this.#submit([this.#held])
      return this.#submit(
        branches.map(({ name, settings }, at) => ({
          body: { stepId: 0, stepName: name, stepType: 'Run', concurrent, targetStep: first + at },
          ...(settings !== undefined && { own: settings }),
        })),
      )
    }
    // The result of another branch: there is nothing to do.
    if (last?.targetStep === undefined) throw new Aborted()
    const { name, body } = branches[last.targetStep - first]!
    const out = JSON.stringify(await this.#ran(name, body))
    return this.#submit([{ body: { stepId: last.targetStep, stepName: name, stepType: 'Run', out, concurrent } }])
  }
}
