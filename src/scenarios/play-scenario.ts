import { outboundInternals } from '../calls/outbound.js'
import { isFor, parsedPattern } from '../calls/outbound-routes.js'
import { AddressPattern } from '../kernel/address-pattern.js'
import { hostPause } from '../kernel/host.js'
import { iso } from '../kernel/instant.js'
import { checkOptionNames, type OptionNames } from '../kernel/nearest-name.js'
import { plural } from '../kernel/plural.js'
import { unplayedText } from '../kernel/unused-script.js'
import { destinationsInternals } from '../queue/destinations/destinations.js'
import { plainText } from '../report/safe-text.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../sandbox/sandbox.js'
import { checkOptions, mergedOptions } from '../sandbox/sandbox-options.js'
import { evaluate } from './evaluate.js'
import type { Expectation, ExpectationVerdict } from './expectations.js'
import { placeText, type ValuePath } from './problems.js'
import { beforeRecords } from './recorded.js'
import {
  applyGiven,
  checkedScenario,
  loadGiven,
  prepareDestinations,
  prepareOutbound,
  sandboxOptionsOf,
} from './scenario.js'
import { runStep, stepOf } from './scenario-steps.js'
import type { StepContext } from './stage.js'
import type { ScenarioStep } from './step-values.js'
import type { Scenario } from './written-scenario.js'

/** Options of `playScenario()`. */
export interface PlayOptions {
  /**
   * Registers the code under test, such as handlers of destinations and connections. It is called after the initial
   * state was created. If the scenario has recorded responses for the URL of a handler, the handler responds instead.
   */
  readonly setup?: (sandbox: Sandbox) => void | Promise<void>
  /** Seed that is used instead of the seed of the scenario. */
  readonly seed?: number | string
  /** Options of the sandbox. If the scenario sets the same option, the scenario takes precedence. */
  readonly sandbox?: SandboxOptions
  /**
   * Returns whether code outside the play responds at a URL. For such URLs, the scripts and responses of the scenario
   * are ignored.
   */
  readonly elsewhere?: (url: string) => boolean
  /**
   * Returns the position of a value in the scenario file, such as `outage.yaml:7:5` with line and column. `place` is
   * the path of the value.
   */
  readonly lineOf?: (place: ValuePath) => string
  /** Whether unhandled deliveries, unused script steps and unused faults fail the play. Default: true. */
  readonly strict?: boolean
  /** Signal that stops the play. The play then rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** Names of the options of a play. Functions that take additional options use this list. */
const optionNames: OptionNames<PlayOptions> = {
  setup: true,
  seed: true,
  sandbox: true,
  elsewhere: true,
  lineOf: true,
  strict: true,
  signal: true,
}

/** Returns the options that belong to a play and omits all others. Functions that take additional options use this. */
export function playOptionNames(): OptionNames<PlayOptions> {
  return optionNames
}

export function playOptionsOf(options: PlayOptions): PlayOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(optionNames, name)))
}

/** @throws TypeError when an option in `sandbox` is unknown */
export function checkPlayOptions({ sandbox }: PlayOptions): void {
  if (sandbox !== undefined) checkOptions(sandbox)
}

/** Result of one check, with the location of the check in the scenario. */
export interface PlayCheck extends ExpectationVerdict {
  /** Location in the scenario: `expect[0].delivered`, `steps[2].request`, or `faults`. */
  readonly path: string
}

/** Result of playing a scenario. */
export interface PlayResult {
  /** Scenario that was played, as plain data. */
  readonly scenario: Scenario
  /** Seed of the sandbox, with which the play can be repeated. */
  readonly seed: number | string
  /** Whether all checks hold. */
  readonly holds: boolean
  /** Results of all expectations, and the failed checks of steps, deliveries, scripts and fault rules. */
  readonly checks: readonly PlayCheck[]
  /** Sandbox at the end of the play. Its clock is stopped, but its store, queue and traffic log can be read. */
  readonly sandbox: Sandbox
  /** Virtual time at the end of the play, in milliseconds since the epoch. */
  readonly endedAt: number
  /** Virtual duration of the play in milliseconds. */
  readonly virtualMs: number
  /**
   * Returns the timeline of the play as text.
   * @example
   * const play = await playScenario(scenarios.flappingDestination)
   * console.log(play.timeline())
   */
  timeline(): string
  /**
   * Returns the results of the checks as text, with one line per check. A check that does not hold also has an
   * explanation.
   * @example
   * const play = await playScenario(scenarios.flappingDestination)
   * expect(play.holds, play.verdict()).toBe(true)
   */
  verdict(): string
}

/**
 * Plays a scenario in a new sandbox, from its initial state to its expectations.
 * @example
 * const play = await playScenario(scenarios.flappingDestination, {
 *   setup: ({ destinations }) => void destinations.on('https://shop.test/orders', ordersRoute),
 * })
 * expect(play.holds, play.verdict()).toBe(true)
 * @throws TypeError when the scenario or an option is invalid
 */
export async function playScenario(given: Scenario, options: PlayOptions = {}): Promise<PlayResult> {
  checkOptionNames('playScenario()', options, optionNames)
  checkPlayOptions(options)
  const scenario = checkedScenario(given)
  const own = sandboxOptionsOf(scenario)
  const sandbox = createSandbox({
    ...mergedOptions(options.sandbox ?? {}, own),
    ...(options.seed !== undefined && { seed: options.seed }),
  })
  const end = (): void => void sandbox.clock.interrupt()
  options.signal?.addEventListener('abort', end, { once: true })
  try {
    return await new Player(scenario, sandbox, options).play()
  } finally {
    options.signal?.removeEventListener('abort', end)
    sandbox.dispose()
  }
}

/** Number of steps after which a long play lets other work of the event loop run. */
const stepsPerPause = 20

class Player implements StepContext {
  readonly messages = new Map<string, string[]>()
  /** URLs of destinations whose recorded responses are not played, because code under test responds at these URLs. */
  underTest: ReadonlySet<string> = new Set()
  readonly #findings: PlayCheck[] = []
  /** Notes for the text of the verdict. They have no effect on the result of the play. */
  readonly #notes: string[] = []
  #place = ''
  #at: ValuePath = []

  constructor(
    readonly scenario: Scenario,
    readonly sandbox: Sandbox,
    readonly options: PlayOptions,
  ) {}

  async play(): Promise<PlayResult> {
    const { scenario, sandbox, options } = this
    const begunAt = sandbox.clock.now()
    await loadGiven(scenario)
    applyGiven(scenario, sandbox)
    const isElsewhere = options.elsewhere ?? (() => false)
    prepareDestinations(scenario, sandbox, isElsewhere)
    prepareOutbound(scenario, sandbox)
    const playRecords = beforeRecords(scenario, sandbox, isElsewhere)
    const own = new Set((scenario.destinations ?? []).map(({ url }) => sandbox.destinations.responderAt(url)))
    const ownHosts = outboundInternals.of(sandbox.outbound).answerers()
    await options.setup?.(sandbox)
    this.underTest = playRecords()
    for (const [index, rule] of (scenario.faults ?? []).entries()) {
      sandbox.faults.add(rule, { location: this.#line(['faults', index]) })
    }
    for (const [index, step] of (scenario.steps ?? []).entries()) {
      const goesOn = await this.#perform(step, index)
      if (index % stepsPerPause === 0) await hostPause()
      options.signal?.throwIfAborted()
      if (!goesOn) break
    }
    for (const [index, expectation] of (scenario.expect ?? []).entries()) this.#judge(expectation, `expect[${index}]`)
    if (options.strict !== false) this.#judgeLeftovers()
    this.#nameShadowed(own)
    this.#nameShadowedHosts(ownHosts)
    const findings = this.#findings
    const notes = this.#notes
    const endedAt = sandbox.clock.now()
    return {
      scenario,
      seed: sandbox.traffic.context.seed ?? 1,
      holds: findings.every(({ holds }) => holds),
      checks: findings,
      sandbox,
      endedAt,
      virtualMs: endedAt - begunAt,
      timeline: () => sandbox.traffic.timeline(),
      verdict: () => verdictText(findings, notes),
    }
  }

  /** @returns `false` if the step failed, so that no further step runs */
  async #perform(step: ScenarioStep, index: number): Promise<boolean> {
    const [name, value] = stepOf(step)
    this.#at = ['steps', index, name]
    this.#place = placeText(this.#at)
    try {
      await runStep(name, value, this)
      return true
    } catch (error) {
      this.#findings.push({
        path: this.#place,
        holds: false,
        expected: `step ${index + 1}, ${name}, succeeds`,
        explanation: (error as Error).message,
      })
      return false
    }
  }

  expect(list: readonly Expectation[]): void {
    const place = this.#place
    for (const [index, expectation] of list.entries())
      this.#judge(expectation, list.length > 1 ? `${place}[${index}]` : place)
  }

  lineOf(): string {
    return this.#line(this.#at)
  }

  #line(place: ValuePath): string {
    return this.options.lineOf?.(place) ?? placeText(place)
  }

  differs(sentence: string): void {
    this.#findings.push({ path: this.#place, holds: false, expected: 'the expected response', explanation: sentence })
  }

  #judge(expectation: Expectation, place: string): void {
    this.#findings.push({ path: `${place}.${Object.keys(expectation)[0]}`, ...evaluate(expectation, this) })
  }

  /**
   * Adds a note for each handler of `setup` that was never called, because script steps responded to all deliveries.
   * This may be intended, so the play can still hold.
   * @param own handlers that the scenario itself registers
   */
  #nameShadowed(own: ReadonlySet<unknown>): void {
    const { destinations, traffic } = this.sandbox
    for (const [index, { url: pattern, script = [] }] of (this.scenario.destinations ?? []).entries()) {
      const matched = new AddressPattern(pattern)
      const left = destinations.unused.find((one) => one.pattern === matched.text)?.steps.length ?? 0
      const attempts = traffic.ofType('attempt').filter(({ url }) => matched.matches(url))
      // A delivery uses one script step, unless a fault rule responds. If there were more deliveries than used steps, a
      // handler or a fault rule has responded, so add no note.
      if (attempts.length > script.length - left) continue
      const urls = new Set(attempts.map(({ url }) => url))
      const shadowed = [...urls].filter((url) => {
        const handler = destinations.responderAt(url)
        return handler !== undefined && !own.has(handler) && !destinationsInternals.of(destinations).hasAsked(handler)
      })
      for (const url of shadowed) {
        const count = plural(attempts.filter((attempt) => attempt.url === url).length, 'delivery', 'deliveries')
        this.#noteShadow(['destinations', index, 'script'], `${count} to ${url}`)
      }
    }
  }

  /**
   * Adds a note for each handler of outbound requests that was never called, because script steps responded to all
   * requests.
   * @param own handlers that the scenario itself registers
   */
  #nameShadowedHosts(own: ReadonlySet<unknown>): void {
    const { outbound, traffic } = this.sandbox
    const { responderAt, hasAsked } = outboundInternals.of(outbound)
    for (const [index, { url: text, script = [] }] of (this.scenario.outbound ?? []).entries()) {
      const route = parsedPattern(text)
      const left = outbound.unused.find(({ pattern }) => pattern === text)?.steps.length ?? 0
      const met = traffic.ofType('outbound').filter(({ method, url }) => isFor(route, method, url))
      // An outbound request uses one script step, unless a fault rule responds. If there were more requests than used
      // steps, a handler or a fault rule has responded, so add no note.
      if (met.length > script.length - left) continue
      const counts = new Map<string, number>()
      for (const { method, url } of met) {
        const handler = responderAt(method, url)
        if (handler === undefined || own.has(handler) || hasAsked(handler)) continue
        const call = `${method} ${url}`
        counts.set(call, (counts.get(call) ?? 0) + 1)
      }
      for (const [call, count] of counts) {
        this.#noteShadow(['outbound', index, 'script'], `${plural(count, 'request')} ${call}`)
      }
    }
  }

  #noteShadow(place: ValuePath, what: string): void {
    this.#notes.push(
      `${placeText(place)}: the script responded to ${what}, so the handler that setup registered was never called`,
    )
  }

  /**
   * Adds a failed check for each unhandled delivery, unused script step and unused fault. All three fail a test, too.
   */
  #judgeLeftovers(): void {
    const { destinations, traffic } = this.sandbox
    for (const explanation of destinations.unhandled) {
      this.#findings.push({
        path: 'destinations',
        holds: false,
        expected: 'every delivery gets a response',
        explanation,
      })
    }
    const expected = 'every script step is used'
    for (const script of destinations.unused) {
      const explanation = unplayedText(script, 'delivery', traffic.entries)
      this.#findings.push({ path: 'destinations', holds: false, expected, explanation })
    }
    for (const script of this.sandbox.outbound.unused) {
      const explanation = unplayedText(script, 'call', traffic.entries)
      this.#findings.push({ path: 'outbound', holds: false, expected, explanation })
    }
    for (const { message: sentence } of this.sandbox.faults.unused) {
      this.#findings.push({ path: 'faults', holds: false, expected: 'every fault is injected', explanation: sentence })
    }
  }
}

function verdictText(findings: readonly PlayCheck[], notes: readonly string[]): string {
  const lines = findings.map(
    ({ holds, path: place, expected }) => `${holds ? '✓' : '✗'} ${plainText(place)}: ${plainText(expected)}`,
  )
  for (const note of notes) lines.push(`Note: ${plainText(note)}`)
  const broken = findings.filter(({ holds }) => !holds)
  for (const { path: place, explanation } of broken)
    lines.push('', `${plainText(place)} does not hold:`, explanation ?? '')
  const count = findings.length - broken.length
  lines.push(
    '',
    broken.length === 0
      ? `Holds: ${count} of ${findings.length}.`
      : `Does not hold: ${broken.length} of ${findings.length}.`,
  )
  return lines.join('\n')
}

export function spanText({ sandbox, virtualMs }: PlayResult): string {
  return `${iso(sandbox.clock.now() - virtualMs)} … ${iso(sandbox.clock.now())}`
}
