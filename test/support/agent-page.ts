// The generated parts of docs/mcp.md: the table of tools and a recorded conversation. `npm run docs` writes them.

import { ServerTarget } from '../../packages/server/src/mcp/mcp-target.js'
import { called, tools } from '../../packages/server/src/mcp/tools.js'
import { startServer } from '../../packages/server/src/server.js'

const shop = 'https://shop.test/orders'

/** The recorded question: what does the queue do when an endpoint refuses connections? */
const conversation: readonly (readonly [why: string, tool: string, args: Record<string, unknown>])[] = [
  ['Register a response of the endpoint:', 'respond_to_deliveries', { to: shop, response: 200 }],
  [
    'Refuse the first two connections:',
    'script_deliveries',
    { to: shop, steps: [{ kind: 'refused' }, { kind: 'refused' }] },
  ],
  ['Publish one message:', 'publish_message', { to: shop, body: { id: 42 }, retries: 3 }],
  ['Run the first attempts:', 'advance_clock', { by: '30s' }],
  ['Run everything to the end:', 'drain_clock', {}],
  ['Check the invariants:', 'check_invariants', {}],
]

/** Returns the page with both parts up to date. */
export async function withToolsAndConversation(page: string): Promise<string> {
  return between(between(page, 'tools', toolTable()), 'conversation', await played())
}

function between(page: string, name: string, text: string): string {
  const begin = `<!-- begin ${name}: \`npm run docs\` writes this -->`
  const from = page.indexOf(begin)
  if (from === -1) throw new Error(`The page has no line ${begin}`)
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(page.indexOf('<!-- end -->', from))}`
}

const effects = { reads: 'reads', changes: 'changes', destroys: 'deletes' } as const

function toolTable(): string {
  const rows = tools.map(
    ({ name, description, effect }) => `| \`${name}\` | ${description.replaceAll('|', '\\|')} | ${effects[effect]} |`,
  )
  const ofTraces = tools.filter((tool) => tool.ofTraces).map(({ name }) => `\`${name}\``)
  return [
    `For a saved trace, only these tools are available: ${ofTraces.join(', ')}.\n`,
    ...['| Tool | Use | Effect |', '|---|---|---|', ...rows],
  ].join('\n')
}

async function played(): Promise<string> {
  await using server = await startServer({ port: 0, clock: 'manual' })
  const sandbox = new ServerTarget({ url: server.origin, tenant: 'main' })
  const parts: string[] = []
  for (const [why, name, args] of conversation) {
    const tool = tools.find((one) => one.name === name)!
    const { text } = await called(tool, sandbox, args)
    parts.push(`${why} \`${name} ${JSON.stringify(args)}\`\n\n\`\`\`text\n${text}\n\`\`\``)
  }
  return parts.join('\n\n')
}
