import fc from 'fast-check'
import { catalog, faultKinds, stepKinds } from '../../../../src/faults/catalog.js'
import type {
  DeliveryFault,
  Fault,
  FaultKind,
  FaultOf,
  FaultRule,
  UncheckedRule,
} from '../../../../src/faults/fault.js'
import { signatureFaults } from '../../../../src/faults/fault-values.js'
import { type DeliveryInjectionPoint, type InjectionPoint, injectionPoints } from '../../../../src/faults/points.js'
import { checkOptionNames, didYouMean } from '../../../../src/kernel/nearest-name.js'
import type { FaultPlanSpace } from './coverage-guide.js'

const spans = fc.constantFrom(1000, 10_000, 60_000, 600_000)
const statuses = fc.constantFrom(500, 503, 502, 504, 429, 404, 400)
const maybe = <T extends object>(model: { readonly [F in keyof T]: fc.Arbitrary<T[F]> }): fc.Arbitrary<Partial<T>> =>
  fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>

/** Arbitraries for the fields of a fault. The catalog has additional example values. */
const values: { readonly [K in FaultKind]?: fc.Arbitrary<Omit<FaultOf<K>, 'kind'>> } = {
  latency: fc.oneof(
    fc.record({ waitMs: spans }),
    fc.record({ waitMs: spans, jitterMs: fc.nat({ max: 1000 }) }),
    fc.tuple(fc.nat({ max: 1000 }), spans).map(([minMs, more]) => ({ minMs, maxMs: minMs + more })),
  ) as fc.Arbitrary<Omit<FaultOf<'latency'>, 'kind'>>,
  status: fc.record({ status: statuses }),
  'rate-limited': fc.record(
    {
      limit: fc.constantFrom('burst', 'chat', 'daily'),
      retryAfter: fc.record({ form: fc.constantFrom('seconds', 'date', 'none'), waitMs: spans }),
    },
    { requiredKeys: ['limit'] },
  ),
  'non-retryable': maybe({ body: fc.constantFrom('gone for good', '') }),
  hang: maybe({ forMs: spans }),
  'half-open': maybe({ forMs: spans }),
  truncate: fc.record({ afterBytes: fc.nat({ max: 20 }) }),
  'slow-body': fc.record({ bytesPerSecond: fc.constantFrom(1, 10, 1000) }),
  'wrong-content-type': fc.record({ type: fc.constantFrom('text/html', 'application/octet-stream', 'text/plain') }),
  'error-reply': fc.record({
    error: fc.constantFrom('OOM command not allowed', 'READONLY no writes here', 'ERR something went wrong'),
  }),
  'late-response': maybe({ byMs: spans }),
  duplicate: maybe({ copies: fc.integer({ min: 1, max: 3 }), afterMs: spans, concurrent: fc.boolean() }),
  reorder: fc.record({ withinMs: spans }),
  delay: fc.record({ waitMs: spans }),
  'bad-signature': fc.record({ flaw: fc.constantFrom(...signatureFaults) }),
  'clock-skew': fc.record({ byMs: fc.constantFrom(-600_000, -3_600_000, 600_000) }),
  'cut-stream': fc.record({ afterEvents: fc.nat({ max: 3 }) }),
  'stall-stream': fc.record({ afterEvents: fc.nat({ max: 3 }), forMs: spans }),
  'stale-read': fc.record(
    { versions: fc.integer({ min: 1, max: 3 }), unlessSynced: fc.constant(true) },
    { requiredKeys: ['versions'] },
  ),
  restart: maybe({ downMs: spans }),
  outage: maybe({ status: fc.constantFrom(503, 502) }),
}

function faultsOf(kind: FaultKind): fc.Arbitrary<Fault> {
  const amounts: fc.Arbitrary<object> = values[kind] ?? fc.constant(catalog[kind].example)
  return amounts.map((fields) => ({ kind, ...fields }) as Fault)
}

/**
 * Kinds of delivery faults that a service with at-least-once delivery can have, the simplest first.
 * `arb.deliveryFaults()` uses them by default. Other kinds must be listed, such as `drop`, which loses messages, and
 * `non-retryable`, which prevents retries.
 */
export const deliveryFaultKinds: readonly FaultKind[] = [
  'lost-ack',
  'duplicate',
  'status',
  'reset',
  'hang',
  'late-response',
  'reorder',
  'delay',
  'rate-limited',
  'restart',
]

/** Common options of the arbitraries that generate fault rules. */
export interface FaultRulesOptions {
  /** Maximum number of rules. Default 4. */
  readonly maxRules?: number
  /**
   * Kinds of faults, the simplest first. Failures shrink to the kinds at the beginning. Each arbitrary has its own
   * default.
   */
  readonly kinds?: readonly FaultKind[]
}

/** Options of `arb.deliveryFaults()`. */
export interface DeliveryFaultsOptions extends FaultRulesOptions {
  /**
   * Injection points of the rules: deliveries of messages, of callbacks, of workflow steps or of their calls. Default
   * `queue.delivery`.
   */
  readonly on?: DeliveryInjectionPoint | readonly DeliveryInjectionPoint[]
  /** Maximum number of deliveries that a rule skips before it injects its fault. Default 5. */
  readonly maxSkip?: number
}

/**
 * Generates fault plans for deliveries. Each rule injects one fault once. Failures shrink to fewer rules, then to
 * earlier and smaller faults, then to simpler kinds of faults.
 * @example fc.assert(fc.property(arb.deliveryFaults({ maxRules: 2 }), (rules) => rules.length <= 2))
 */
export function deliveryFaults(options: DeliveryFaultsOptions = {}): fc.Arbitrary<readonly FaultRule[]> {
  checkOptionNames('arb.deliveryFaults()', options, { on: true, maxSkip: true, maxRules: true, kinds: true })
  const { maxRules: max = 4, kinds = deliveryFaultKinds, on = 'queue.delivery', maxSkip: reach = 5 } = options
  const rule = fc
    .tuple(fc.nat({ max: reach }), fc.oneof(...checkedKinds(kinds, [on].flat() as InjectionPoint[]).map(faultsOf)))
    .map(([skip, fault]) => ({ on, ...(skip > 0 && { skip }), times: 1, fault }) as FaultRule)
  return new Rules(fc.array(rule, { maxLength: max, size: 'max' }), kinds, { on, kinds, max, reach })
}

/**
 * Returns the limits of the fault plans if `arb.deliveryFaults()` created the arbitrary. Otherwise returns `undefined`.
 */
export function spaceOf(faults: fc.Arbitrary<readonly FaultRule[]>): FaultPlanSpace | undefined {
  return faults instanceof Rules ? faults.space : undefined
}

const callFaultKinds: readonly FaultKind[] = ['lost-ack', 'status', 'reset', 'hang', 'duplicate', 'late-response']

/** Options of `arb.outboundFaults()`. */
export interface CallFaultsOptions extends FaultRulesOptions {
  /** Maximum number of outbound requests that a rule skips before it injects its fault. Default 2. */
  readonly maxSkip?: number
}

/**
 * Generates fault plans for the app's outbound requests. Each rule injects one fault once. Failures shrink as with
 * `arb.deliveryFaults()`.
 * @example fc.assert(fc.property(arb.outboundFaults(), (rules) => rules.every(({ on }) => on === 'outbound.request')))
 */
export function outboundFaults(options: CallFaultsOptions = {}): fc.Arbitrary<readonly FaultRule[]> {
  checkOptionNames('arb.outboundFaults()', options, { maxSkip: true, maxRules: true, kinds: true })
  const { maxRules: max = 2, kinds = callFaultKinds, maxSkip: reach = 2 } = options
  const rule = fc
    .tuple(fc.nat({ max: reach }), fc.oneof(...checkedKinds(kinds, ['outbound.request']).map(faultsOf)))
    .map(([skip, fault]) => ({ on: 'outbound.request', ...(skip > 0 && { skip }), times: 1, fault }) as FaultRule)
  return new Rules(fc.array(rule, { maxLength: max, size: 'max' }), kinds)
}

/** Maximum number of outbound requests to which each fault is applied. */
const maxCalls = 12

/**
 * Returns fault plans with one fault each. For each request, one plan rejects the request, and another plan loses the
 * response after the host did its work.
 */
export function faultsOfCalls(calls: number): readonly (readonly FaultRule[])[] {
  const each = Array.from({ length: Math.min(calls, maxCalls) }, (_, skip) => ({
    ...(skip > 0 && { skip }),
    times: 1,
  }))
  const faults = [{ kind: 'lost-ack' }, { kind: 'status', status: 503 }] as const
  return each.flatMap((when) =>
    faults.map((fault): readonly FaultRule[] => [{ on: 'outbound.request', ...when, fault }]),
  )
}

/** Options of `arb.faultRules()`. */
export interface AnyFaultRulesOptions extends FaultRulesOptions {
  /** Injection points of the rules. Default: all. */
  readonly on?: readonly InjectionPoint[]
}

/**
 * Generates fault rules for any injection point, with any counter, such as `skip`, and any time window. Failures shrink
 * as with `arb.deliveryFaults()`.
 * @throws TypeError when an option, an injection point or a kind of fault is unknown
 * @example
 * fc.assert(
 *   fc.property(arb.faultRules({ maxRules: 2 }), (rules) => {
 *     using added = sandbox.faults.add(rules)
 *   }),
 * )
 */
export function faultRules(options: AnyFaultRulesOptions = {}): fc.Arbitrary<readonly FaultRule[]> {
  checkOptionNames('arb.faultRules()', options, { on: true, maxRules: true, kinds: true })
  const { maxRules: max = 4, on = injectionPoints, kinds = faultKinds } = options
  if (!Array.isArray(on))
    throw new TypeError(`arb.faultRules(): on must be a list of injection points (got ${JSON.stringify(on)}).`)
  checkedKinds(kinds, on)
  const usable = on.filter((point) => kinds.some((kind) => catalog[kind].points.includes(point)))
  const rule = fc.constantFrom(...usable).chain((point) => {
    const there = kinds.filter((kind) => catalog[kind].points.includes(point))
    return fc
      .tuple(fc.oneof(...there.map(faultsOf)), when)
      .map(([fault, window]): FaultRule => fitted({ on: point, ...window, fault }))
  })
  return new Rules(fc.array(rule, { maxLength: max, size: 'max' }), kinds)
}

const when = fc.record(
  {
    skip: fc.nat({ max: 5 }),
    times: fc.integer({ min: 1, max: 3 }),
    every: fc.integer({ min: 1, max: 3 }),
    chance: fc.constantFrom<readonly [number, number]>([1, 2], [1, 10]),
    from: spans,
    cron: fc.constantFrom('* * * * *', '*/2 * * * *'),
  },
  { requiredKeys: [] },
)

/** Adds an end to an outage. No delivery could succeed in an endless outage. */
function fitted(rule: UncheckedRule): FaultRule {
  return (rule.fault.kind === 'outage' ? { ...rule, until: 3_600_000 } : rule) as FaultRule
}

/**
 * Generates steps for `destinations.script()`.
 * @throws TypeError when an option or a kind of step is unknown
 * @example
 * fc.assert(
 *   fc.property(arb.deliveryScript(), (steps) => {
 *     sandbox.destinations.script('https://shop.test/orders', steps)
 *   }),
 * )
 */
export function deliveryScript(options: FaultRulesOptions = {}): fc.Arbitrary<readonly DeliveryFault[]> {
  checkOptionNames('arb.deliveryScript()', options, { maxRules: true, kinds: true })
  const { maxRules: max = 4, kinds = stepKinds } = options
  const wrong = kinds.find((kind) => !stepKinds.includes(kind))
  if (wrong !== undefined)
    throw new TypeError(`arb.deliveryScript(): ${wrong} is not a step of a script. Use one of ${stepKinds.join(', ')}.`)
  return fc.array(fc.oneof(...kinds.map(faultsOf)), { maxLength: max, size: 'max' }) as fc.Arbitrary<
    readonly DeliveryFault[]
  >
}

function checkedKinds(kinds: readonly FaultKind[], points: readonly InjectionPoint[]): readonly FaultKind[] {
  const unknown = points.find((point) => !injectionPoints.includes(point))
  if (unknown !== undefined) {
    throw new TypeError(
      `There is no injection point ${JSON.stringify(unknown)}.${didYouMean(unknown, injectionPoints)} Use one of ${injectionPoints.join(', ')}.`,
    )
  }
  if (kinds.length === 0) throw new TypeError('`kinds` must not be empty. Add a kind of fault.')
  for (const kind of kinds) {
    if (!Object.hasOwn(catalog, kind))
      throw new TypeError(
        `There is no fault ${JSON.stringify(kind)}.${didYouMean(kind, faultKinds)} Use one of ${faultKinds.join(', ')}.`,
      )
    if (points.some((point) => catalog[kind].points.includes(point))) continue
    throw new TypeError(`${kind} has no effect at ${points.join(', ')}. Use it at ${catalog[kind].points.join(', ')}.`)
  }
  return kinds
}

/** Generates lists of rules, and shrinks them in the order of `simpler()`. */
class Rules extends fc.Arbitrary<readonly FaultRule[]> {
  constructor(
    private readonly all: fc.Arbitrary<FaultRule[]>,
    private readonly kinds: readonly FaultKind[],
    readonly space?: FaultPlanSpace,
  ) {
    super()
  }

  override generate(random: fc.Random, bias: number | undefined): fc.Value<readonly FaultRule[]> {
    return new fc.Value<readonly FaultRule[]>(this.all.generate(random, bias).value, undefined)
  }

  override canShrinkWithoutContext(value: unknown): value is readonly FaultRule[] {
    return Array.isArray(value)
  }

  override shrink(rules: readonly FaultRule[]): fc.Stream<fc.Value<readonly FaultRule[]>> {
    return fc.stream(simpler(rules, this.kinds)).map((each) => new fc.Value<readonly FaultRule[]>(each, undefined))
  }
}

/**
 * Yields simpler lists: fewer rules first, then earlier or smaller faults, then simpler kinds. Large simplifications
 * come before small ones.
 */
export function* simpler(
  rules: readonly FaultRule[],
  kinds: readonly FaultKind[],
): Generator<readonly FaultRule[], void> {
  if (rules.length > 0) yield []
  if (rules.length > 2) for (const rule of rules) yield [rule]
  if (rules.length > 1) for (const index of rules.keys()) yield rules.toSpliced(index, 1)
  for (const [index, rule] of rules.entries())
    for (const shorter of shortened(rule)) yield rules.toSpliced(index, 1, shorter)
  for (const [index, rule] of rules.entries()) {
    for (const kind of kinds.slice(0, Math.max(0, kinds.indexOf(rule.fault.kind)))) {
      if (![rule.on].flat().every((point) => catalog[kind].points.includes(point as InjectionPoint))) continue
      yield rules.toSpliced(index, 1, fitted({ ...without(rule, 'until', 'phase'), fault: catalog[kind].example }))
    }
  }
}

function* shortened(rule: FaultRule): Generator<FaultRule, void> {
  const { skip = 0, times } = rule
  for (const name of ['from', 'cron', 'chance', 'every'] as const)
    if (rule[name] !== undefined) yield without(rule, name)
  if (skip > 0) yield without(rule, 'skip')
  if (skip > 2) yield { ...rule, skip: skip >> 1 }
  if (skip > 1) yield { ...rule, skip: skip - 1 }
  if (times !== undefined && times > 1) yield { ...rule, times: 1 }
  const { example } = catalog[rule.fault.kind]
  if (JSON.stringify(example) !== JSON.stringify(rule.fault)) yield fitted({ ...rule, fault: example })
}

function without(rule: FaultRule, ...names: readonly (keyof FaultRule)[]): FaultRule {
  return Object.fromEntries(
    Object.entries(rule).filter(([name]) => !(names as readonly string[]).includes(name)),
  ) as FaultRule
}

/** Generates the fault plans of a guide. They shrink as random plans do. */
export class GuidedRules extends fc.Arbitrary<readonly FaultRule[]> {
  constructor(
    private readonly next: (chance: readonly FaultRule[]) => readonly FaultRule[],
    private readonly shrunk: fc.Arbitrary<readonly FaultRule[]>,
  ) {
    super()
  }

  override generate(random: fc.Random, bias: number | undefined): fc.Value<readonly FaultRule[]> {
    return new fc.Value<readonly FaultRule[]>(this.next(this.shrunk.generate(random, bias).value), undefined)
  }

  override canShrinkWithoutContext(value: unknown): value is readonly FaultRule[] {
    return this.shrunk.canShrinkWithoutContext(value)
  }

  override shrink(rules: readonly FaultRule[]): fc.Stream<fc.Value<readonly FaultRule[]>> {
    return this.shrunk.shrink(rules, undefined)
  }
}
