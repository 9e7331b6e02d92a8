/** Feature of an adapter that a request needs. */
const needs = {
  plain: 'requests and responses',
  bytes: 'bodies of any bytes',
  large: 'bodies of megabytes',
  concurrent: 'many requests at the same time',
  headers: 'all headers of a response',
  stream: 'event streams',
  leave: 'event streams that their client aborts',
  abort: 'requests that their client aborts',
  clock: 'time that moves during a request',
  fault: 'faults: statuses, broken connections',
  partial: 'responses that break halfway',
} as const
export type Need = keyof typeof needs

const noStreams = 'nock does not support streams as bodies: such a request fails with an error that names alternatives'
const noAborts = 'a route does not notice that its page aborts a request'

/** The adapters, with what each does not support and the reason. The contract tests hold them to everything else. */
export const unsupported = {
  'sandbox.fetch': {},
  'stuntdouble/fetch': {},
  'stuntdouble/msw': {},
  'stuntdouble/nock': {
    stream: noStreams,
    leave: noStreams,
    partial: 'nock accepts only complete responses: the client gets a network error',
  },
  'stuntdouble/playwright': {
    headers: 'the browser hides some headers from pages of another origin, as with the service',
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

Choose an adapter by what it supports (✓); a number refers to the reason below. The [contract tests](../decisions/one-contract-for-adapters.md) check the table. Each adapter has a page: [fetch](fetch.md), [msw](msw.md), [nock](nock.md), [Playwright](playwright.md), [server](../server.md).

|  | ${adapters.map(([name]) => name).join(' | ')} |
|---|${adapters.map(() => '---').join('|')}|
${rows.join('\n')}

${notes.map((note, index) => `${index + 1}. ${note[0]!.toUpperCase()}${note.slice(1)}.`).join('\n')}
`
}
