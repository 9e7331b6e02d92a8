import type * as v from 'valibot'
import { safeParse } from 'valibot'
import { nearestName } from '../kernel/nearest-name.js'

/** Path of a value within another value: `['steps', 2, 'publish', 'to']`. */
export type ValuePath = readonly (string | number)[]

/** Problem of one value in a scenario. `place` is the path of the value. The message does not contain this path. */
export interface ScenarioProblem {
  readonly place: ValuePath
  readonly sentence: string
  /** Whether the name of the field is wrong, and not its value. */
  readonly ofName?: boolean
  /**
   * Path to print before the message, if it is shorter than `place`. The message then contains the remaining part of
   * the path.
   */
  readonly called?: ValuePath
}

/** Check of a value that does not match a schema. Returns problems, whose messages replace those of the schema. */
export type SchemaCheck = (value: unknown) => readonly { readonly path: ValuePath; readonly sentence: string }[]

/** Schemas that have a check. If a value does not match such a schema, the messages come from the check. */
export const schemaChecks: Map<v.GenericSchema, SchemaCheck> = new Map()

type Schema = v.GenericSchema & {
  readonly entries?: Readonly<Record<string, Schema>>
  readonly item?: Schema
  readonly items?: readonly Schema[]
  readonly value?: Schema
  readonly wrapped?: Schema
  readonly options?: readonly unknown[]
  readonly key?: unknown
  readonly literal?: unknown
}
type Issue = v.BaseIssue<unknown>

const maxProblems = 20

/**
 * Returns the problems of a value that does not match a schema. A misspelled name gets a suggestion. Returns an empty
 * list if the value is valid.
 */
export function problemsOf(schema: v.GenericSchema, value: unknown, place: ValuePath = []): readonly ScenarioProblem[] {
  // For a large value, report only the first problem. With thousands of mistakes, the schema library would create ten
  // times as many issues.
  const result = safeParse(schema, value, { abortEarly: isLarge(value) })
  if (result.success) return []
  const asked = new Set<string>()
  const problems: ScenarioProblem[] = []
  // Create messages only for the problems that are returned, because creating a message is expensive.
  for (const issue of result.issues) {
    if (problems.length >= maxProblems) break
    const expert = expertFor(schema as Schema, issue, value)
    if (expert === undefined) {
      problems.push(...problemsOfIssue(schema as Schema, issue, place))
      continue
    }
    const key = JSON.stringify(expert.path)
    if (asked.has(key)) continue
    asked.add(key)
    const called = [...place, ...expert.path]
    problems.push(...expert.found.map(({ path, sentence }) => ({ place: [...called, ...path], sentence, called })))
  }
  return problems.slice(0, maxProblems)
}

const largest = 5000

/** Returns whether a value has more fields and items than `largest`. Such a value is usually generated. */
function isLarge(value: unknown): boolean {
  const open = [value]
  let count = 0
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one !== 'object' || one === null) continue
    const values = Object.values(one)
    count += values.length
    if (count > largest) return true
    for (const inner of values) open.push(inner)
  }
  return false
}

/** Returns the problems that a check in `schemaChecks` finds, if the issue is in a value that has such a check. */
function expertFor(
  root: Schema,
  issue: Issue,
  value: unknown,
): { path: ValuePath; found: ReturnType<SchemaCheck> } | undefined {
  const path = pathOf(issue)
  let at = value
  for (let depth = 0; depth <= path.length; depth++) {
    const schema = schemaAt(root, path.slice(0, depth))
    const expert = schema && schemaChecks.get(schema)
    if (expert !== undefined) {
      const found = expert(at)
      return found.length === 0 ? undefined : { path: path.slice(0, depth), found }
    }
    at = (at as Record<string | number, unknown> | undefined)?.[path[depth]!]
  }
  return undefined
}

function pathOf(issue: Issue): ValuePath {
  return (issue.path ?? []).map(({ key }) => key as string | number)
}

function problemsOfIssue(root: Schema, issue: Issue, above: ValuePath): readonly ScenarioProblem[] {
  const path = pathOf(issue)
  const place = [...above, ...path]
  if (issue.type === 'union') return problemsOfUnion(schemaAt(root, path), issue, place)
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    const known = Object.keys(entriesOf(schemaAt(root, path.slice(0, -1))))
    return [{ place, sentence: unknownName(String(path.at(-1)), known), ofName: true }]
  }
  if (issue.type === 'strict_object' && path.length > 0 && issue.path!.at(-1)!.origin === 'key') {
    return [{ place: place.slice(0, -1), sentence: `${JSON.stringify(path.at(-1))} is missing.` }]
  }
  const words = optionsOf(issue.expected)
  if (words.length > 0 && (issue.type === 'picklist' || issue.type === 'variant' || issue.type === 'literal')) {
    return [{ place, sentence: notOneOf(issue.input, words) }]
  }
  if (issue.kind === 'schema') return [{ place, sentence: wrongType(issue) }]
  return [{ place, sentence: issue.message.endsWith('.') ? issue.message : `${issue.message}.` }]
}

/** Returns the options of a union. A nested union is replaced with its options. */
function optionsWithin(union: Schema | undefined): readonly Schema[] {
  const options = ((union?.options ?? []) as readonly Schema[]).map(inner)
  return options.flatMap((option) => (option.type === 'union' ? optionsWithin(option) : [option]))
}

/**
 * Returns the problems of a value that matches no option of a union. The option that the author most likely meant
 * determines them.
 */
function problemsOfUnion(union: Schema | undefined, issue: Issue, place: ValuePath): readonly ScenarioProblem[] {
  const options = optionsWithin(union)
  const { input } = issue
  if (isObject(input)) {
    const objects = options.filter((option) => option.entries !== undefined)
    const names = Object.keys(input)
    const meant = objects.find((option) => names.some((name) => Object.hasOwn(option.entries!, name)))
    if (meant !== undefined) return problemsOf(meant, input, place)
    const known = objects.flatMap((option) => Object.keys(option.entries!))
    if (names.length > 0 && known.length > 0) {
      return [{ place: [...place, names[0]!], sentence: unknownName(names[0]!, known), ofName: true }]
    }
  }
  if (Array.isArray(input)) {
    const lists = options.filter((option) => option.type === 'array')
    const list = lists.find(({ item }) => (item?.entries !== undefined) === isObject(input[0])) ?? lists[0]
    if (list !== undefined) return problemsOf(list, input, place)
  }
  const sameType = options.find((option) => option.type === typeof input)
  if (sameType !== undefined) {
    const found = problemsOf(sameType, input, place)
    if (found.length > 0) return found
  }
  const words = options.flatMap((option) => (option.type === 'picklist' ? (option.options as unknown[]) : []))
  if (words.length > 0 && typeof input === 'string') return [{ place, sentence: notOneOf(input, words.map(String)) }]
  if (options.every((option) => option.entries !== undefined)) {
    const fields = options.map((option) => Object.keys(option.entries!)[0]!)
    const near = typeof input === 'string' ? nearestName(input, fields) : undefined
    const hint = near === undefined ? `one of ${fields.join(', ')}` : `${JSON.stringify(near)}`
    return [{ place, sentence: `must be an object with the field ${hint} (got ${shown(input)}).` }]
  }
  return [{ place, sentence: `must be ${[...new Set(options.map(nameOf))].join(' or ')} (got ${shown(input)}).` }]
}

function schemaAt(schema: Schema, path: readonly (string | number)[]): Schema | undefined {
  let at: Schema | undefined = inner(schema)
  for (const key of path) {
    if (at === undefined) return undefined
    const next: Schema | undefined =
      at.entries !== undefined && Object.hasOwn(at.entries, key)
        ? at.entries[key]
        : (at.item ?? (typeof key === 'number' ? at.items?.[key] : undefined) ?? at.value ?? throughOptions(at, key))
    at = next && inner(next)
  }
  return at
}

function throughOptions(at: Schema, key: string | number): Schema | undefined {
  const options = ((at.options ?? []) as readonly Schema[]).filter((option) => typeof option === 'object')
  for (const option of options.map(inner)) {
    if (option.entries !== undefined && Object.hasOwn(option.entries, key)) return option.entries[key]
    if (option.item !== undefined && typeof key === 'number') return option.item
  }
  return undefined
}

/** Returns the inner schema of an optional field. Wrappers such as `v.optional()` are removed. */
function inner(schema: Schema): Schema {
  let at = schema
  while (at.wrapped !== undefined) at = at.wrapped
  return at
}

function entriesOf(schema: Schema | undefined): Readonly<Record<string, Schema>> {
  if (schema?.entries !== undefined) return schema.entries
  const options = ((schema?.options ?? []) as readonly Schema[]).filter((option) => typeof option === 'object')
  return Object.assign({}, ...options.map((option) => inner(option).entries ?? {})) as Record<string, Schema>
}

/** Returns the possible values from the `expected` text of a valibot issue, such as `("a" | "b")`. */
function optionsOf(expected: string | null): readonly string[] {
  return [...(expected ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => word!)
}

export function unknownName(name: string, known: readonly string[]): string {
  const near = nearestName(name, known)
  return `there is no ${JSON.stringify(name)}. ${near === undefined ? `Use one of ${known.join(', ')}.` : `Did you mean ${JSON.stringify(near)}?`}`
}

function notOneOf(given: unknown, words: readonly string[]): string {
  if (given === undefined) return `is missing. Use one of ${words.join(', ')}.`
  const near = typeof given === 'string' ? nearestName(given, words) : undefined
  return near === undefined
    ? `must be one of ${words.join(', ')} (got ${shown(given)}).`
    : `unknown value ${shown(given)}. Did you mean ${JSON.stringify(near)}?`
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  string: 'a string',
  record: 'an object',
  object: 'an object',
  strict_object: 'an object',
  loose_object: 'an object',
  null: 'nothing',
}

function nameOf(schema: Schema): string {
  if (schema.type === 'literal') return JSON.stringify(schema.literal)
  if (schema.type === 'picklist') return `one of ${(schema.options as unknown[]).join(', ')}`
  return typeNames[schema.type] ?? schema.type
}

function wrongType(issue: Issue): string {
  if (issue.input === undefined) return 'is missing.'
  return `must be ${typeNames[issue.type] ?? issue.expected} (got ${shown(issue.input)}).`
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'an object'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Formats a path: `steps[2].publish.to`. */
export function placeText(place: ValuePath): string {
  return place
    .map((key, index) =>
      typeof key === 'number'
        ? `[${key}]`
        : /^[\w$-]+$/.test(key)
          ? `${index > 0 ? '.' : ''}${key}`
          : `[${JSON.stringify(key)}]`,
    )
    .join('')
}
