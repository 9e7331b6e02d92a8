/** What a request needs of the way that carries it. */
export const needs = {
  plain: 'requests and answers',
  bytes: 'bodies of any bytes',
  large: 'bodies of megabytes',
  concurrent: 'many calls at once',
  headers: 'every header of an answer',
  stream: 'event streams',
  leave: 'an event stream that its client aborts',
  abort: 'a client that gives up',
  clock: 'time that moves during a call',
  fault: 'faults: statuses, broken connections',
  partial: 'answers that break off',
} as const
export type Need = keyof typeof needs

const noStreams = 'nock takes no stream as a body: such a request fails with a sentence that says what to use'
const deaf = 'a route is not told that its page gave up'

/** The ways, and what each cannot carry, as a sentence. The contract tests hold them to everything else. */
export const carriage = {
  'sandbox.fetch': {},
  'stuntdouble/fetch': {},
  'stuntdouble/msw': {},
  'stuntdouble/nock': { stream: noStreams, leave: noStreams },
  'stuntdouble/playwright': {
    headers: 'the browser keeps headers from a page of another origin, as it does with the service',
    leave: deaf,
    abort: deaf,
    partial: 'a route is fulfilled whole or not at all: the page gets a network error',
  },
  'stuntdouble serve': {},
  'a server that adopts a sandbox': {},
} as const satisfies Readonly<Record<string, Partial<Record<Need, string>>>>
export type WayName = keyof typeof carriage

/** docs/adapters/index.md. */
export function carriageTable(): string {
  const ways = Object.entries(carriage) as [string, Partial<Record<Need, string>>][]
  const notes: string[] = []
  const rows = (Object.entries(needs) as [Need, string][]).map(([need, what]) => {
    const cells = ways.map(([, cannot]) => {
      const why = cannot[need]
      if (why === undefined) return '✓'
      if (!notes.includes(why)) notes.push(why)
      return `– (${notes.indexOf(why) + 1})`
    })
    return `| ${what} | ${cells.join(' | ')} |`
  })
  return `# Ways to a sandbox

<!-- Generated from test/contract/transport.ts: \`npm run docs\`. Do not edit. -->

One suite of more than 120 cases over the three APIs, faults of every kind among them, runs through every way; this is what each carries. The pages of each: [fetch](fetch.md), [msw](msw.md), [nock](nock.md), [Playwright](playwright.md), [server](../server.md).

|  | ${ways.map(([name]) => name).join(' | ')} |
|---|${ways.map(() => '---').join('|')}|
${rows.join('\n')}

${notes.map((note, index) => `${index + 1}. ${note[0]!.toUpperCase()}${note.slice(1)}.`).join('\n')}
`
}
