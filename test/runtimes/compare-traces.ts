/** A part of a trace that depends on the runtime. */
interface ExcludedPart {
  readonly title: string
  readonly reason: string
  /**
   * Returns the value without this part. `key` is the name of its field. A part without this function is not in the
   * compared trace, so that the comparison still sees the default headers of text.
   */
  readonly without?: (key: string, value: unknown) => unknown
}

const namesRuntime = (header: unknown): boolean =>
  Array.isArray(header) && /^upstash-telemetry-(?:platform|runtime)$/i.test(String(header[0]))

/** All parts of a trace that the comparison ignores. They are listed in docs/runtimes.md. */
export const excludedParts: readonly ExcludedPart[] = [
  {
    title: 'texts of errors that the engine throws, with their source locations',
    reason: 'JavaScriptCore and V8 word the same error differently, and a bundler changes the lines of a stack.',
    without: (key, value) =>
      typeof value === 'string' && /^(?:body|note)$/.test(key) ? value.replace(/(\w*Error): .*/s, '$1') : value,
  },
  {
    title: 'headers that name the runtime',
    reason: 'The SDKs send the name and version of the runtime in a header.',
    without: (_key, value) => {
      if (Array.isArray(value)) return value.filter((item) => !namesRuntime(item))
      // A batch has the headers of its messages in its body.
      return typeof value === 'string' ? value.replace(/"upstash-telemetry-(?:platform|runtime)":"[^"]*",/g, '') : value
    },
  },
  {
    title: 'causes of outbound requests: `cause` and `possibleCauses`',
    reason:
      'Without `AsyncLocalStorage`, an outbound request lists all handlers that run at the same time as its possible causes.',
    without: (_key, value) => {
      if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'outbound') return value
      const { cause, possibleCauses, ...rest } = value as { cause?: number; possibleCauses?: number[] }
      return rest
    },
  },
  {
    title: 'the `content-type` of bytes, blobs, streams or empty text without a type, and of blobs of text, in Bun',
    reason:
      'Bun does not add the types of the fetch standard. The sandbox adds them if the body is text, because Bun does not tell how the app passed it.',
  },
  {
    title: 'a `content-type` of exactly `application/json;charset=utf-8`, in Bun',
    reason: 'Bun writes this type for `Response.json()`, so the sandbox logs it as `application/json`.',
  },
  {
    title: 'the boundary of `FormData`',
    reason: 'Each runtime draws it from its own randomness.',
  },
  {
    title: '`Set-Cookie` of responses of handlers, in browsers',
    reason: 'The fetch standard forbids pages to set this header of a response.',
  },
]

/** Returns a trace without the parts that depend on the runtime, formatted with one value per line. */
export function comparableTrace(trace: string): string {
  const excluded = (key: string, value: unknown): unknown =>
    excludedParts.reduce((rest, { without }) => (without ? without(key, rest) : rest), value)
  return JSON.stringify(JSON.parse(trace), excluded, 1)
}

/** Returns the first characters in which two traces differ, or `undefined` if they are equal. */
export function traceDifference(one: string, other: string): string | undefined {
  const [left, right] = [comparableTrace(one), comparableTrace(other)]
  if (left === right) return undefined
  let at = 0
  while (left[at] === right[at]) at++
  const line = left.slice(0, at).split('\n').length
  const around = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))
  return `line ${line} has ${around(right)} instead of ${around(left)}`
}
