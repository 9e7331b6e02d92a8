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
import { type StepKind, stepKinds, stepOf } from './scenario-steps.js'
import type { StepContext } from './stage.js'
import type { ScenarioStep } from './step-values.js'
import type { Scenario } from './written-scenario.js'

/** Options of `playScenario()`. */
export interface PlayOptions {
  /**
   * Registers the code under test: handlers of destinations, connections. Called after the initial state was created.
   * A handler at the URL of a destination with `recorded` replaces the recorded responses.
   */
  readonly setup?: (sandbox: Sandbox) => void | Promise<void>
  /** Seed that replaces the one of the scenario. */
  readonly seed?: number | string
  /** Further options of the sandbox. Options that the scenario sets take precedence. */
  readonly sandbox?: SandboxOptions
  /**
   * Returns whether code outside the play responds at a URL. Scripts and responses of the scenario for these URLs are
   * ignored.
   */
  readonly elsewhere?: (url: string) => boolean
  /** Returns the file, line and column of a value of the scenario, given by its path: `outage.yaml:7:5`. */
  readonly lineOf?: (place: ValuePath) => string
  /** Whether unhandled deliveries, unused script steps and unused faults fail the play. Default: true. */
  readonly strict?: boolean
  /** Stops the play, which rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** Names of all options of a play, for functions that accept these and further options. */
export const playOptionNames: OptionNames<PlayOptions> = {
  setup: true,
  seed: true,
  sandbox: true,
  elsewhere: true,
  lineOf: true,
  strict: true,
  signal: true,
}

/** Returns only the options of a play, for functions that accept these and further options. */
export function playOptionsOf(options: PlayOptions): PlayOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(playOptionNames, name)))
}

/** @throws TypeError when an option of its sandbox is unknown */
export function checkPlayOptions({ sandbox }: PlayOptions): void {
  if (sandbox !== undefined) checkOptions(sandbox)
}

/** Result of one check, with its location in the scenario. */
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
  /** Results of all expectations, and failed checks of steps, deliveries, scripts and fault rules. */
  readonly checks: readonly PlayCheck[]
  /** The sandbox at the end of the play: its store, queue and traffic can be read. Its clock is stopped. */
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
   * Returns the checks as text: one line each, and an explanation of each that does not hold.
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
  checkOptionNames('playScenario()', options, playOptionNames)
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

/** Number of steps after which the play yields to the event loop, so that a long play does not block it. */
const stepsPerPause = 20

class Player implements StepContext {
  readonly messages = new Map<string, string[]>()
  /** URLs of recorded destinations at which code under test responds instead. */
  underTest: ReadonlySet<string> = new Set()
  readonly #findings: PlayCheck[] = []
  /** Notes for the verdict text, which do not affect whether the play holds. */
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

  /** @returns whether the next step may run */
  async #perform(step: ScenarioStep, index: number): Promise<boolean> {
    const [name, value] = stepOf(step)
    this.#at = ['steps', index, name]
    this.#place = placeText(this.#at)
    try {
      await (stepKinds[name] as StepKind<unknown>).run(value, this)
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
   * Reports handlers of `setup` that were never called because a script was used for every delivery. This may be
   * intended, so it is only a note.
   * @param own handlers of the scenario itself
   */
  #nameShadowed(own: ReadonlySet<unknown>): void {
    const { destinations, traffic } = this.sandbox
    for (const [index, { url: pattern, script = [] }] of (this.scenario.destinations ?? []).entries()) {
      const matched = new AddressPattern(pattern)
      const left = destinations.unused.find((one) => one.pattern === matched.text)?.steps.length ?? 0
      const attempts = traffic.ofType('attempt').filter(({ url }) => matched.matches(url))
      // Each delivery uses one script step, except one with an injected fault. So more deliveries than used steps means
      // that a handler or fault responded.
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
   * Reports handlers of outbound requests that were never called because a script was used for every request.
   * @param own handlers of the scenario itself
   */
  #nameShadowedHosts(own: ReadonlySet<unknown>): void {
    const { outbound, traffic } = this.sandbox
    const { responderAt, hasAsked } = outboundInternals.of(outbound)
    for (const [index, { url: text, script = [] }] of (this.scenario.outbound ?? []).entries()) {
      const route = parsedPattern(text)
      const left = outbound.unused.find(({ pattern }) => pattern === text)?.steps.length ?? 0
      const met = traffic.ofType('outbound').filter(({ method, url }) => isFor(route, method, url))
      // Each outbound request uses one script step, except one with an injected fault. So more requests than used steps
      // means that a handler or fault responded.
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
      `${placeText(place)}: the script was used for ${what}, so the handler that setup registered was never called`,
    )
  }

  /** Adds failed checks for unhandled deliveries, unused script steps and unused faults, which also fail a test. */
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

/** Returns the virtual times at which a play began and ended, as text. */
export function spanText({ sandbox, virtualMs }: PlayResult): string {
  return `${iso(sandbox.clock.now() - virtualMs)} … ${iso(sandbox.clock.now())}`
}
