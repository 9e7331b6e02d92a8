import { UsageError } from '@stuntdouble/command-line'
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, type ParsedNode, parseDocument } from 'yaml'
import type { ScenarioProblem, ValuePath } from '../../../../src/scenarios/problems.js'
import { scenarioProblems } from '../../../../src/scenarios/scenario.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'

/** Maximum bytes of a scenario file. */
export const maxFile = 1_048_576
export const deepest = 64
/**
 * Maximum number of values that aliases may expand to. Without this limit, a short file with aliases of aliases could
 * fill the memory.
 */
export const maxValues = 200_000
const maxShown = 10

/** Error for an invalid scenario file. The message has one line per problem: `file:line:column: problem`. */
export class ScenarioFileError extends UsageError {
  override readonly name = 'ScenarioFileError'
}

/** A problem and its position in the text. Lines and columns count from 1. */
interface FileProblem {
  readonly line: number
  readonly column: number
  readonly sentence: string
}

/**
 * Reads a scenario from YAML or JSON. The file contains only data: tags and code are not allowed, and its size, depth
 * and aliases are limited.
 * @throws ScenarioFileError when it is invalid
 */
export function readScenario(source: string, file: string): Scenario {
  return readScenarioFile(source, file).scenario
}

/**
 * Reads a scenario and the position of each part, such as `outage.yaml:7:5`.
 * @throws ScenarioFileError when it is invalid
 */
export function readScenarioFile(
  source: string,
  file: string,
): { scenario: Scenario; lineOf: (place: ValuePath) => string } {
  const { value, locate } = readFile(source, file)
  const problems = scenarioProblems(value)
  if (problems.length === 0) {
    const { $schema: _, ...scenario } = value as Scenario & { $schema?: string }
    return {
      scenario,
      lineOf: (place) => {
        const { line, column } = locate({ place, sentence: '' })
        return `${file}:${line}:${column}`
      },
    }
  }
  throw refused(
    file,
    problems.map((problem) => locate(problem)),
  )
}

interface ParsedFile {
  readonly value: unknown
  locate(problem: ScenarioProblem): FileProblem
}

function readFile(source: string, file: string): ParsedFile {
  const bytes = new TextEncoder().encode(source).length
  if (bytes > maxFile) {
    throw refused(file, [
      { line: 1, column: 1, sentence: `The file must have at most ${maxFile} bytes (got ${bytes}).` },
    ])
  }
  const lines = new LineCounter()
  const at = (offset: number, sentence: string): FileProblem => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1), sentence }
  }
  const document = parsed(source, lines, file)
  const mistakes = [...document.errors, ...document.warnings]
  if (mistakes.some(({ message }) => /call stack/i.test(message))) throw tooDeep(file)
  if (mistakes.length > 0) {
    throw refused(
      file,
      mistakes.map(({ pos, message, code }) =>
        at(
          pos[0],
          code === 'TAG_RESOLVE_FAILED' ? 'Tags are not allowed: a scenario is plain data.' : plainMessage(message),
        ),
      ),
    )
  }
  const root = document.contents
  if (root === null) throw refused(file, [at(0, 'The file is empty.')])
  const dangers = dangersOf(root, at)
  if (dangers.length > 0) throw refused(file, dangers)
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw refused(file, [at(0, `The aliases in the file cannot be resolved: ${(error as Error).message}.`)])
  }
  return { value, locate: (problem) => at(offsetOf(root, problem), problem.sentence) }
}

function parsed(source: string, lines: LineCounter, file: string) {
  try {
    return parseDocument(source, {
      lineCounter: lines,
      version: '1.2',
      schema: 'core',
      strict: true,
      // Switch off the parser's check for duplicate keys. The parser's check is slow, because it compares every key
      // with every other key. `dangersOf()` finds duplicates instead.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'warn',
      stringKeys: true,
    })
  } catch (error) {
    // The parser is recursive. A deeply nested file causes a stack overflow.
    if (error instanceof RangeError) throw tooDeep(file)
    throw error
  }
}

function tooDeep(file: string): ScenarioFileError {
  return refused(file, [{ line: 1, column: 1, sentence: `The file must nest at most ${deepest} levels.` }])
}

function plainMessage(message: string): string {
  const first = message.split('\n')[0]!.trim()
  return first.endsWith('.') ? first : `${first}.`
}

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

/** Returns problems that make a file from an unknown source unsafe, such as tags and too many aliases. */
function dangersOf(root: Node, at: (offset: number, sentence: string) => FileProblem): FileProblem[] {
  const dangers: FileProblem[] = []
  const sizes = new Map<string, number>()
  /** Returns the number of values that a node has when its aliases are expanded. */
  const visit = (node: unknown, depth: number): number => {
    if (!isNode(node)) return 1
    const offset = node.range?.[0] ?? 0
    if (depth > deepest) {
      dangers.push(at(offset, `The file must nest at most ${deepest} levels.`))
      return 1
    }
    if (isAlias(node)) {
      const size = sizes.get(node.source)
      if (size === undefined)
        dangers.push(at(offset, `The alias ${JSON.stringify(node.source)} contains itself or has no anchor.`))
      return size ?? 1
    }
    if (node.tag !== undefined) {
      dangers.push(at(offset, 'Tags are not allowed: a scenario is plain data.'))
    }
    let size = 1
    if (isSeq(node)) for (const item of node.items) size += visit(item, depth + 1)
    else if (isMap(node)) {
      const names = new Set<string>()
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : ''
        if (forbiddenKeys.has(name))
          dangers.push(at((key as Node).range?.[0] ?? offset, `The key ${JSON.stringify(name)} is not allowed.`))
        if (names.has(name)) dangers.push(at((key as Node).range?.[0] ?? offset, 'Map keys must be unique.'))
        names.add(name)
        size += visit(key, depth + 1) + visit(value, depth + 1)
      }
    }
    if ('anchor' in node && typeof node.anchor === 'string') sizes.set(node.anchor, size)
    if (size > maxValues && dangers.length === 0)
      dangers.push(at(offset, `The aliases in the file expand to more than ${maxValues} values.`))
    return size
  }
  visit(root, 0)
  return dangers
}

/**
 * Returns the position in the text of the part at a path. If the part does not exist, returns the position of the
 * nearest part above it that exists.
 */
function offsetOf(root: ParsedNode, { place, ofName }: ScenarioProblem): number {
  let node: unknown = root
  let offset: number = root.range[0]
  for (const [index, key] of place.entries()) {
    const pair = isMap(node) ? node.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined
    const next: unknown = pair !== undefined ? pair.value : isSeq(node) ? node.items[key as number] : undefined
    if (pair === undefined && next === undefined) break
    const isLast = index === place.length - 1
    const shown =
      pair !== undefined && (ofName === true || !isNode(next) || (isLast && !isScalar(next))) ? pair.key : next
    offset = (shown as Node | null)?.range?.[0] ?? offset
    node = next
  }
  return offset
}

function refused(file: string, complaints: readonly FileProblem[]): ScenarioFileError {
  const shown = complaints
    .slice(0, maxShown)
    .map(({ line, column, sentence }) => `${file}:${line}:${column}: ${sentence}`)
  if (complaints.length > maxShown) shown.push(`… and ${complaints.length - maxShown} more.`)
  return new ScenarioFileError(shown.join('\n'))
}
