import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { loadProtocol } from '../src/mcp/mcp-protocol.js'
import { type McpTarget, ServerTarget } from '../src/mcp/mcp-target.js'
import { startServer } from '../src/server.js'

export interface Said {
  readonly text: string
  readonly isError: boolean
}

/** The interface of an agent: tools by name, responses as texts. */
export interface Agent extends AsyncDisposable {
  readonly client: Client
  call(name: string, args?: Record<string, unknown>): Promise<Said>
}

export async function agentOf(world: McpTarget): Promise<Agent> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const server = (await loadProtocol('1.0.0')).server(world)
  await server.connect(ours as never)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(theirs)
  return { client, call: (name, args = {}) => said(client, name, args), [Symbol.asyncDispose]: () => client.close() }
}

export async function said(client: Client, name: string, args: Record<string, unknown>): Promise<Said> {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const [first] = content as { type: string; text: string }[]
  return { text: first!.text, isError: isError === true }
}

/** Starts an agent and the server that it reads. */
export async function agentAtServer(options: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer({ port: 0, clock: 'manual', ...options })
  const sandbox = server.tenant('main')
  const agent = await agentOf(new ServerTarget({ url: server.origin, tenant: 'main' }))
  return {
    ...agent,
    server,
    sandbox,
    [Symbol.asyncDispose]: async () => {
      await agent.client.close()
      await server.close()
    },
  }
}

/** Splits a response into its data and the text outside of the fence. */
export function parted(text: string): { data: string; outside: string } {
  const match = /^--- (data-[0-9a-f]{16}) begins ---\n([\s\S]*)\n--- \1 ends ---$/m.exec(text)
  if (match === null) return { data: '', outside: text }
  return { data: match[2]!, outside: text.slice(0, match.index) + text.slice(match.index + match[0].length) }
}
