/** Feature of an adapter that a request needs. */
const needs = {
  plain: 'requests and responses',
  bytes: 'bodies with arbitrary bytes',
  large: 'bodies of megabytes',
  concurrent: 'many requests at the same time',
  headers: 'all headers of a response',
  stream: 'event streams',
  leave: 'event streams that the client aborts, which the sandbox notices',
  abort: 'requests that the client aborts, which the sandbox notices',
  clock: 'a clock that moves during a request',
  fault: 'faults that return a status or break the connection',
  partial: 'responses that break halfway',
} as const
export type Need = keyof typeof needs

const noStreams =
  'nock cannot return a stream as the body of a response; a request for an event stream fails with an error that names other adapters'
const noAborts = 'a Playwright route is not notified if a page aborts its request'

/** The adapters, with what each does not support and the reason. The contract tests hold them to everything else. */
export const unsupported = {
  'sandbox.fetch': {},
  'stuntdouble/fetch': {},
  'stuntdouble/msw': {},
  'stuntdouble/nock': {
    stream: noStreams,
    leave: noStreams,
    partial: 'nock can return only complete responses, so the client gets a network error instead of the first half',
  },
  'stuntdouble/playwright': {
    headers: 'the browser hides some headers from pages of another origin; it does the same with the real service',
    leave: noAborts,
    abort: noAborts,
  },
  'stuntdouble serve': {},
  'a server that adopts a sandbox': {},
} as const satisfies Readonly<Record<string, Partial<Record<Need, string>>>>

/** Returns the table of the page docs/adapters/index.md. */
export function transportTable(): string {
  const adapters = Object.entries(unsupported) as [string, Partial<Record<Need, string>>][]
  const notes: string[] = []
  const rows = (Object.entries(needs) as [Need, string][]).map(([need, what]) => {
    const cells = adapters.map(([, cannot]) => {
      const why = cannot[need]
      if (why === undefined) return '✓'
      if (!notes.includes(why)) notes.push(why)
      return `– (${notes.indexOf(why) + 1})`
    })
    return `| ${what} | ${cells.join(' | ')} |`
  })
  return `# Compare adapters

<!-- Generated from test/contract/transport.ts: \`npm run docs\`. Do not edit. -->

Choose an adapter by what it supports (✓). A dash means that the adapter does not support it, and the number after the dash refers to the reason below the table. [Tests that run on every adapter](../decisions/one-contract-for-adapters.md) check the table. The adapters have these pages: [fetch](fetch.md), [msw](msw.md), [nock](nock.md), [Playwright](playwright.md), [server](../server.md).

|  | ${adapters.map(([name]) => name).join(' | ')} |
|---|${adapters.map(() => '---').join('|')}|
${rows.join('\n')}

${notes.map((note, index) => `${index + 1}. ${note[0]!.toUpperCase()}${note.slice(1)}.`).join('\n')}
`
}
