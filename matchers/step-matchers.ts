import { type Bytes, text } from '../src/kernel/bytes.js'
import { nearestName } from '../src/kernel/nearest-name.js'
import type { Entry, EntryOf, EntryType, MessageKind } from '../src/kernel/traffic-log.js'
import { standardRedaction } from '../src/report/redaction.js'
import { type BulkActionPattern, bulkActionFields } from './bulk-action-matchers.js'
import { argumentsFit, type CommandArgPattern, checkArguments, compareWord } from './command-matchers.js'
import type { ValueDifference } from './compare-values.js'
import type { ValueComparison } from './comparison-kinds.js'
import { isPlainObject, literal } from './literal.js'
import { attemptFields, messageKinds, publishedFields } from './message-lifecycle.js'
import { type PatternTest, testOf } from './near-misses.js'
import { callFields, type OutboundPattern } from './outbound-matchers.js'
import {
  anyField,
  checkPattern,
  numberField,
  optional,
  type PatternField,
  type PatternFields,
  textField,
  urlField,
  wordField,
} from './pattern-fields.js'
import type { AttemptPattern, Or, PublishedPattern, Text } from './patterns.js'
import { type RequestPattern, requestFields } from './requests.js'

/** Ways in which a command reaches the store. */
const ways = [
  'request',
  'pipeline',
  'transaction',
  'resp',
  'direct',
] as const satisfies readonly EntryOf<'command'>['via'][]

/** The fields that a step of a sequence can have, by type of entry. */
interface StepPatterns {
  /** Fields of an HTTP request to one of the services. */
  readonly request: RequestPattern
  /** Fields of an outbound request of the app. */
  readonly outbound: OutboundPattern
  /** Fields of a command that the store ran. */
  readonly command: {
    /** Arguments of the command, as in `toHaveExecuted`. */
    readonly argv?: readonly CommandArgPattern[]
    readonly via?: Or<EntryOf<'command'>['via']>
    readonly error?: Text | undefined
    readonly database?: Text | undefined
  }
  /** Fields of a keyspace event: the name of the changed key, and the event, such as `set` or `expired`. */
  readonly keyspace: {
    readonly key?: Text
    readonly event?: Text
    readonly reason?: Text | undefined
    readonly database?: Text | undefined
  }
  /** Fields of a published message. */
  readonly published: PublishedPattern
  /** Fields of a delivery attempt. */
  readonly attempt: AttemptPattern
  /** Fields of a change of a message outside of attempts, such as a cancellation. */
  readonly message: { readonly state?: Text; readonly messageId?: Text; readonly reason?: Text | undefined }
  /** Fields of a dead letter. */
  readonly 'dead-letter': {
    readonly to?: Text
    readonly status?: Or<number>
    readonly error?: Text | undefined
    readonly kind?: Or<MessageKind>
    readonly dlqId?: Text
    readonly messageId?: Text
  }
  /** Fields of the start or end of a bulk action. */
  readonly 'bulk-action': BulkActionPattern
  /** Fields of the start or end of a workflow run. */
  readonly workflow: { readonly runId?: Text; readonly state?: Text; readonly to?: Text }
  /** Fields of a step that was added to a workflow run. */
  readonly step: {
    readonly runId?: Text
    readonly stepName?: Text
    readonly stepType?: Text
    readonly stepId?: Or<number>
  }
  /** Fields of an entry about a step that begins to wait for an event. */
  readonly wait: { readonly runId?: Text; readonly stepName?: Text; readonly eventId?: Text }
  /** Fields of an event that was sent to workflow runs. */
  readonly notify: { readonly eventId?: Text; readonly runId?: Text | undefined }
  /** Fields of an invocation: a step of a workflow run starts another run. */
  readonly invoke: { readonly runId?: Text; readonly stepName?: Text; readonly invokedRunId?: Text; readonly to?: Text }
  /** Fields of an injected fault. */
  readonly fault: {
    readonly point?: Text
    readonly fault?: Text
    readonly target?: Text
    readonly database?: Text | undefined
  }
}

type StepOf<T extends EntryType> = {
  /** Type of the entry, such as `attempt`. */
  readonly type: T
} & (T extends keyof StepPatterns
  ? StepPatterns[T]
  : { readonly [Name in Exclude<keyof EntryOf<T>, 'type' | 'seq' | 'at' | 'cause' | 'region' | 'database'>]?: unknown })

/** One step of a sequence: the type of an entry and some of its fields. */
export type SequenceStep = { [T in EntryType]: StepOf<T> }[EntryType]

const wordsField: PatternField<EntryOf<'command'>> = {
  read: (entry) => entry.argv,
  kind: (expected): ValueComparison => {
    const words = expected as readonly CommandArgPattern[]
    const differences = (argv: readonly Bytes[]): ValueDifference[] =>
      words.flatMap((word, index) =>
        compareWord(argv[index], word, index).map((one) => one.at(`[${index}]${one.path}`)),
      )
    return { expected, differences, fits: argumentsFit(words) } as ValueComparison
  },
  takes: {
    what: "a list of arguments, ['INCR', 'visits']",
    check: (value) => Array.isArray(value) && value.length > 0,
  },
  optional: false,
  isSecret: ({ argv }: EntryOf<'command'>) => standardRedaction.isSecretCommand(argv.map((word) => text(word))),
}

/** Name of an added database; `undefined` for the first one. */
const databaseField: PatternField<Entry> = optional(textField((entry: Entry) => entry.database))

/** Descriptions of the fields of a step, by type of entry. For other types, see `otherFields`. */
const stepFields: { readonly [T in keyof StepPatterns]: PatternFields<EntryOf<T>> } = {
  request: requestFields,
  outbound: callFields,
  command: {
    argv: wordsField,
    via: wordField(ways, (entry) => entry.via),
    error: {
      ...optional(textField((entry: EntryOf<'command'>) => entry.error)),
      isSecret: ({ argv }: EntryOf<'command'>) => standardRedaction.isSecretCommand(argv.map((word) => text(word))),
    },
    database: databaseField,
  },
  keyspace: {
    key: textField((entry) => text(entry.key)),
    event: textField((entry) => entry.event),
    reason: optional(textField((entry) => entry.reason)),
    database: databaseField,
  },
  published: publishedFields,
  attempt: attemptFields,
  message: {
    state: wordField(['CANCEL_REQUESTED', 'CANCELLED', 'WAITING', 'DELIVER_REQUESTED'], (entry) => entry.state),
    messageId: textField((entry) => entry.messageId),
    reason: optional(textField((entry) => entry.reason)),
  },
  'dead-letter': {
    to: urlField((entry) => entry.url),
    status: numberField((entry) => entry.status),
    error: optional(textField((entry) => entry.error)),
    kind: wordField(messageKinds, (entry) => entry.kind),
    dlqId: textField((entry) => entry.dlqId),
    messageId: textField((entry) => entry.messageId),
  },
  'bulk-action': bulkActionFields,
  workflow: {
    runId: textField((entry) => entry.runId),
    state: textField((entry) => entry.state),
    to: urlField((entry) => entry.url),
  },
  step: {
    runId: textField((entry) => entry.runId),
    stepName: textField((entry) => entry.stepName),
    stepType: textField((entry) => entry.stepType),
    stepId: numberField((entry) => entry.stepId),
  },
  wait: {
    runId: textField((entry) => entry.runId),
    stepName: textField((entry) => entry.stepName),
    eventId: textField((entry) => entry.eventId),
  },
  notify: {
    eventId: textField((entry) => entry.eventId),
    runId: optional(textField((entry) => entry.runId)),
  },
  invoke: {
    runId: textField((entry) => entry.runId),
    stepName: textField((entry) => entry.stepName),
    invokedRunId: textField((entry) => entry.invokedRunId),
    to: urlField((entry) => entry.url),
  },
  fault: {
    point: textField((entry) => entry.point),
    fault: textField((entry) => entry.fault),
    target: urlField((entry) => entry.target),
    database: databaseField,
  },
}

/**
 * Names of the fields of all other types of entries. The values of these fields are compared unchanged. The compiler
 * reports a missing type of entry.
 */
type OtherType = Exclude<EntryType, keyof StepPatterns>
const otherFields: {
  readonly [T in OtherType]: readonly Exclude<
    keyof EntryOf<T>,
    'type' | 'seq' | 'at' | 'cause' | 'region' | 'database'
  >[]
} = {
  setting: ['resource', 'name', 'change', 'value'],
  'flow-control': ['messageId', 'decision', 'flowControlKey', 'reason'],
  clock: ['move', 'to', 'count', 'endedAfterSeq'],
  dropped: ['count', 'limit', 'unit'],
}

const entryTypes: readonly string[] = [...Object.keys(stepFields), ...Object.keys(otherFields)]

function asItIs(name: string): PatternField<Entry> {
  return anyField((entry) => Reflect.get(entry, name))
}

export function fieldsOfType(type: EntryType): PatternFields<Entry> {
  if (Object.hasOwn(stepFields, type)) return stepFields[type as keyof StepPatterns] as PatternFields<Entry>
  return Object.fromEntries(otherFields[type as OtherType].map((name) => [name, asItIs(name)]))
}

/** A validated step of a sequence. `test` must get only entries of the type `type`. */
export interface StepTest {
  readonly type: EntryType
  readonly test: PatternTest<Entry>
}

export function stepTest(matcher: string, step: unknown): StepTest {
  const type = isPlainObject(step) ? step.type : undefined
  if (typeof type !== 'string' || !entryTypes.includes(type)) {
    const near = typeof type === 'string' ? nearestName(type, entryTypes) : undefined
    throw new TypeError(
      `${matcher}(): unknown type of step (got ${literal(step)}).${near === undefined ? '' : ` Did you mean \`${near}\`?`} The types are ${entryTypes.join(', ')}.`,
    )
  }
  const { type: _, ...pattern } = step as Record<string, unknown>
  const fields = fieldsOfType(type as EntryType)
  checkPattern(matcher, pattern, fields)
  if ('argv' in pattern) checkArguments(matcher, pattern.argv)
  return { type: type as EntryType, test: testOf(fields, pattern) }
}
