import { cursorSequence, type Filters, type RecordQuery } from '../../kernel/indexed-records.js'
import { commaList } from '../settings/publish-options.js'
import { refusals } from '../settings/queue-rejections.js'

/**
 * Parameters of a request, from the query or from the JSON body that older clients send. A name may have several
 * values.
 */
export type QueryValues = ReadonlyMap<string, readonly string[]>

export interface FilterRules {
  /** Names of the filters that the endpoint accepts. */
  readonly filters: readonly string[]
  /** Name of the filter for IDs. If a request has it, all other filters are ignored. */
  readonly ids?: string
  readonly defaultCount: number | undefined
  readonly maxCount: number
  readonly order?: 'earliestFirst' | 'latestFirst'
  /** Names of other parameters that are accepted. The endpoint reads them itself. */
  readonly others?: readonly string[]
}

/** Filters of messages, dead letters and the log. [queue.md 1.5, 1.9, 1.10] */
export const messageFilters: readonly string[] = [
  'topicName',
  'queueName',
  'url',
  'host',
  'path',
  'label',
  'flowControlKey',
  'scheduleId',
  'callerIp',
]
export const dlqFilters: readonly string[] = [
  'messageIds',
  'url',
  'topicName',
  'scheduleId',
  'queueName',
  'responseStatus',
  'callerIp',
  'label',
  'flowControlKey',
]
/** Filters for dead letters of workflow runs, which the workflow SDK sends. [queue.md 1.12] */
export const runFilters: readonly string[] = ['workflowRunId', 'workflowUrl', 'workflowCreatedAt']
export const logFilters: readonly string[] = [
  'messageIds',
  'state',
  'url',
  'topicName',
  'scheduleId',
  'queueName',
  'label',
  'flowControlKey',
  'callerIp',
  'host',
  'path',
]

/** Synonyms of filter names. [queue.md 1.5, 1.9, 1.10] */
const synonyms: Readonly<Record<string, string>> = {
  callerIP: 'callerIp',
  messageId: 'messageIds',
  urlGroup: 'topicName',
}

/** Filters of a bulk action, by the name of the query parameter. [queue.md 1.5] */
export type ShownFilters = Readonly<Record<string, readonly string[]>>

/**
 * Maximum number of values of all filters of one request. It limits the time for which a request blocks others. This
 * package chose the number.
 */
export const maxFilterValues = 10_000

/** Filters for which a value with commas is also compared as a whole. */
const whole = new Set(['url', 'path', 'workflowUrl'])
const always = ['fromDate', 'toDate', 'count', 'cursor', 'order']

/**
 * Parses the filters of a request that lists or changes several messages. A record must match all filters. It matches a
 * filter if it has one of the values. [queue.md 1.1]
 * @throws QueueRejection 400 for an unknown name or an invalid value
 */
export function readFilters<T>(query: QueryValues, rules: FilterRules): RecordQuery<T> {
  const filters = new Map<string, Set<string>>()
  let given = 0
  for (const [parameter, values] of query) {
    const name = synonyms[parameter] ?? parameter
    if (rules.filters.includes(name) || name === rules.ids) {
      // An empty list such as `"messageIds": []` does not count as a filter. [queue.md 1.5]
      if (values.length === 0) continue
      const known = filters.get(name) ?? new Set<string>()
      for (const value of values) {
        if (whole.has(name)) known.add(value)
        const parts = commaList(value)
        given += parts.length
        if (given > maxFilterValues) throw refusals.invalid('filter', `it has more than ${maxFilterValues} values`)
        for (const part of parts) known.add(part)
      }
      filters.set(name, known)
    } else if (!always.includes(name) && rules.others?.includes(name) !== true) {
      throw refusals.invalid('filter', `${JSON.stringify(parameter)} is not known`)
    }
  }
  const ids = rules.ids === undefined ? undefined : filters.get(rules.ids)
  const after = readCursor(query)
  const order = readOrder(query) ?? rules.order ?? 'earliestFirst'
  if (ids !== undefined) return { filters: new Map([[rules.ids!, ids]]), order, count: rules.defaultCount, after }
  return {
    filters: filters as Filters,
    from: readDate(query, 'fromDate'),
    to: readDate(query, 'toDate'),
    order,
    count: readCount(query, rules),
    after,
  }
}

/** Policies for cancels by filters. */
interface CancelPolicy {
  readonly cancelCount: 'ignored' | 'honored'
  readonly maxCancelCount: number
}

/**
 * Parses the filters of a cancel of messages. Without filters, everything matches.
 * @throws QueueRejection 400 for an unknown name or an invalid value
 */
export function readMessageCancel<T>(query: QueryValues, policy: CancelPolicy): RecordQuery<T> {
  const { maxCancelCount: maxCount } = policy
  const rules = { filters: messageFilters, ids: 'messageIds', defaultCount: undefined, maxCount, others: ['async'] }
  return readCancel(query, policy, (given) => readFilters<T>(given, rules))
}

/**
 * Parses the filters of a cancel. If `count` is ignored, everything that matches is canceled. An invalid `count` is
 * rejected all the same. [queue.md 1.5]
 * @param read parses the filters as a request that lists the records does
 * @throws QueueRejection 400 for an unknown name or an invalid value
 */
export function readCancel<T>(
  query: QueryValues,
  { cancelCount }: Pick<CancelPolicy, 'cancelCount'>,
  read: (query: QueryValues) => RecordQuery<T>,
): RecordQuery<T> {
  if (query.has('cursor')) throw refusals.invalid('filter', '"cursor" is not known')
  const { count, ...wanted } = read(query)
  return { ...wanted, order: 'earliestFirst', count: cancelCount === 'honored' ? count : undefined }
}

/**
 * Returns the filters of a cancel as its bulk action shows them. The functions that parse a request
 * accept the result, too.
 */
export function cancelFilters(query: QueryValues, policy: Pick<CancelPolicy, 'cancelCount'>): ShownFilters {
  const others = policy.cancelCount === 'honored' ? ['async', 'order'] : ['async', 'order', 'count']
  const shown = new Map<string, Set<string>>()
  for (const [given, values] of query) {
    const name = synonyms[given] ?? given
    if (values.length === 0 || others.includes(name)) continue
    const parts = whole.has(name) ? values : values.flatMap(commaList)
    // A filter such as `label=` matches nothing. Without a value, it would not count as a filter and match everything.
    shown.set(name, new Set([...(shown.get(name) ?? []), ...(parts.length === 0 ? [''] : parts)]))
  }
  return Object.fromEntries([...shown].map(([name, values]) => [name, [...values]]))
}

/** Parses the parameter `async` of a cancel. @throws QueueRejection 400 unless it is `true` or `false` */
export function readAsync(query: QueryValues): boolean {
  const [text = 'false'] = query.get('async') ?? []
  if (text === 'true' || text === 'false') return text === 'true'
  throw refusals.invalid('async', `${JSON.stringify(text)} is neither true nor false`)
}

function readCount(query: QueryValues, rules: FilterRules): number | undefined {
  const text = query.get('count')?.[0]
  if (text === undefined || text === '') return rules.defaultCount
  if (!/^\d+$/.test(text) || Number(text) < 1)
    throw refusals.invalid('count', `${JSON.stringify(text)} is not a positive integer`)
  return Math.min(Number(text), rules.maxCount)
}

function readDate(query: QueryValues, name: string): number | undefined {
  const text = query.get(name)?.[0]
  if (text === undefined || text === '') return undefined
  if (!/^-?\d+$/.test(text)) throw refusals.invalid(name, `${JSON.stringify(text)} is not a Unix time in milliseconds`)
  return Number(text)
}

function readCursor(query: QueryValues): number | undefined {
  const text = query.get('cursor')?.[0]
  if (text === undefined || text === '') return undefined
  const sequence = cursorSequence(text)
  if (sequence === undefined) throw refusals.invalid('cursor', `${JSON.stringify(text)} is not a cursor`)
  return sequence
}

function readOrder(query: QueryValues): 'earliestFirst' | 'latestFirst' | undefined {
  const text = query.get('order')?.[0]
  if (text === undefined || text === '') return undefined
  if (text === 'earliestFirst' || text === 'latestFirst') return text
  throw refusals.invalid('order', `${JSON.stringify(text)} is neither earliestFirst nor latestFirst`)
}

/** Returns how many bytes of a body the response shows, from the parameter `trimBody`. */
export function readTrimBody(query: QueryValues): number | undefined {
  const text = query.get('trimBody')?.[0]
  if (text === undefined || text === '') return undefined
  if (!/^(?:-1|\d+)$/.test(text)) throw refusals.invalid('trimBody', `${JSON.stringify(text)} is not a number of bytes`)
  return Number(text)
}
