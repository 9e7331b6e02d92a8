// The generated parts of docs/mcp.md: the table of tools and a recorded conversation. `npm run docs` writes them.

import { ServerTarget } from '../../packages/server/src/mcp/mcp-target.js'
import { called, tools } from '../../packages/server/src/mcp/tools.js'
import { startServer } from '../../packages/server/src/server.js'

const shop = 'https://shop.test/orders'

/** The recorded question: what does the queue do without a destination at an endpoint? */
const conversation: readonly (readonly [why: string, tool: string, args: Record<string, unknown>])[] = [
  ['The endpoint answers,', 'respond_to_deliveries', { to: shop, response: 200 }],
  ['but twice nobody is there.', 'script_deliveries', { to: shop, steps: [{ kind: 'refused' }, { kind: 'refused' }] }],
  ['One message goes there.', 'publish_message', { to: shop, body: { id: 42 }, retries: 3 }],
  ['The first attempts are made.', 'advance_clock', { by: '30s' }],
  ['What comes next?', 'list_timers', {}],
  ['How does it end?', 'drain_clock', {}],
  ['And is all well?', 'check_invariants', {}],
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

const effects = { reads: '', changes: 'changes', destroys: 'deletes' } as const

function toolTable(): string {
  const rows = tools.map(({ name, description, effect, ofTraces }) => {
    const what = description.replaceAll('|', '\\|')
    return `| \`${name}\` | ${what} | ${effects[effect]} | ${ofTraces ? 'yes' : ''} |`
  })
  return ['| Tool | | The world | Saved traces |', '|---|---|---|---|', ...rows].join('\n')
}

async function played(): Promise<string> {
  await using server = await startServer({ port: 0, clock: 'manual' })
  const world = new ServerTarget({ url: server.origin, tenant: 'main' })
  const told: string[] = []
  for (const [why, name, args] of conversation) {
    const tool = tools.find((one) => one.name === name)!
    const { text } = await called(tool, world, args)
    told.push(`${why} \`${name} ${JSON.stringify(args)}\`\n\n\`\`\`text\n${text}\n\`\`\``)
  }
  return told.join('\n\n')
}
