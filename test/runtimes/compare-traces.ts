/** A part of a trace that depends on the runtime. The comparison ignores it. */
interface ExcludedPart {
  readonly title: string
  readonly reason: string
  /** Returns the value without this part. `key` is the name of its field. */
  readonly without: (key: string, value: unknown) => unknown
}

const runtimeHeader = 'upstash-telemetry-runtime'

/** All parts of a trace that the comparison ignores. They are listed in docs/runtimes.md. */
export const excludedParts: readonly ExcludedPart[] = [
  {
    title: 'source locations',
    reason: 'The lines of a stack are different where a bundler transforms the tests.',
    without: (key, value) => (key === 'location' ? undefined : value),
  },
  {
    title: 'texts of errors that the engine throws',
    reason: 'JavaScriptCore and V8 have different words for the same error, and different stacks.',
    without: (key, value) => (key === 'stack' ? undefined : value),
  },
  {
    title: 'headers that name the runtime',
    reason: 'The SDKs send the name and version of the runtime in a header.',
    without: (_key, value) => {
      if (Array.isArray(value) && value[0] === runtimeHeader) return [runtimeHeader]
      // A batch has the headers of its messages in its body.
      return typeof value === 'string' ? value.replace(/("upstash-telemetry-runtime":)"[^"]*"/g, '$1""') : value
    },
  },
  {
    title: '`possibleCauses`',
    reason:
      'Without `AsyncLocalStorage`, an outbound request of several concurrent handlers lists all of them in place of its cause.',
    without: (key, value) => (key === 'possibleCauses' ? undefined : value),
  },
]

/** Returns a trace without the parts that depend on the runtime, formatted with one value per line. */
export function comparableTrace(trace: string): string {
  const excluded = (key: string, value: unknown): unknown =>
    excludedParts.reduce((rest, { without }) => without(key, rest), value)
  return JSON.stringify(JSON.parse(trace), excluded, 1)
}

/** Returns the first lines in which two traces differ, or `undefined` if they are equal. */
export function traceDifference(one: string, other: string): string | undefined {
  const [left, right] = [comparableTrace(one).split('\n'), comparableTrace(other).split('\n')]
  const at = left.findIndex((line, index) => line !== right[index])
  if (at === -1 && left.length === right.length) return undefined
  const first = at === -1 ? left.length : at
  return `line ${first + 1}: ${left[first] ?? '(end)'} ≠ ${right[first] ?? '(end)'}`
}
