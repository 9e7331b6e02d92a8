import { readFileSync } from 'node:fs'
import { neutralDialect, upstashDialect } from '../../../../src/protocol/dialect.js'
import { rateLimitHeaders } from '../../../../src/queue/publish/call-limits.js'
import { queueEndpoints } from '../../../../src/queue/rest/queue-endpoints.js'
import { statsService } from '../../../../src/stats/rest/stats-endpoints.js'
import { blockingTable, commandTable } from '../../../../src/store/commands/index.js'
import { sessionCommands } from '../../../../src/store/resp/session-commands.js'
import { subscriptionEndpoints } from '../../../../src/store/rest/subscriptions.js'
import { workflowEndpoints } from '../../../../src/workflow/rest/workflow-endpoints.js'
import type { TableLookup } from './compare.js'
import type { Item } from './items.js'
import { type OurNames, ourNames } from './our-names.js'

/** What the double implements, as tables in which an item can be looked up. */
export interface OurTables {
  /**
   * Syntax of each command by its name. A command that only redis-server has according to docs/protocol/commands.json
   * is not here, because its row must change if the vendor documents it.
   */
  readonly commands: ReadonlyMap<string, string>
  readonly endpoints: readonly { readonly method: string | readonly string[]; readonly path: string }[]
  readonly names: OurNames
}

/** Types of the SDKs that describe what the service sends. Their other types describe the SDKs. */
const wireTypes: ReadonlySet<string> = new Set([
  ...['Message', 'Log', 'DlqMessage', 'Schedule', 'UrlGroup', 'Endpoint', 'QueueResponse', 'FlowControlInfo'],
  ...['GlobalParallelismInfo', 'WorkflowRunLog', 'FailureFunctionLog', 'Waiter', 'NotifyResponse'],
])

const commandList = new URL('../../../../docs/protocol/commands.json', import.meta.url)

/** Returns the tables of this repository. */
export function ourTables(): OurTables {
  const rows = JSON.parse(readFileSync(commandList, 'utf8')) as { name: string; status: string }[]
  const documented = new Set(rows.filter(({ status }) => status === 'documented').map(({ name }) => name))
  const implemented = [
    ...[...commandTable.commands, ...blockingTable.commands].map(({ name, usage }) => ({ name, usage })),
    ...[...sessionCommands.values()].map(({ name, usage = '' }) => ({ name, usage: `${name} ${usage}` })),
  ]
  const commands = new Map(
    implemented.filter(({ name }) => documented.has(name)).map(({ name, usage }) => [name, usage] as const),
  )
  // The functions that create the tables do not use their engines before a request.
  const none = undefined as never
  const endpoints = [
    ...queueEndpoints,
    ...workflowEndpoints(none),
    ...statsService(none, { user: '', key: '' }).endpoints,
    ...subscriptionEndpoints,
    // The other paths of the store are commands.
    { method: 'POST', path: '/pipeline' },
    { method: 'POST', path: '/multi-exec' },
  ]
  return { commands, endpoints, names: ourNames() }
}

/** Returns the function that looks up items in the tables. */
export function knownIn(tables: OurTables): TableLookup {
  const containers = containersOf(tables)
  const sureIf = (isThere: boolean): ReturnType<TableLookup> => (isThere ? 'yes' : 'no')
  // A name in our sources may have another meaning there.
  const perhapsIf = (isThere: boolean): ReturnType<TableLookup> => (isThere ? 'perhaps' : 'no')
  return (item) => {
    switch (item.kind) {
      case 'command':
        return sureIf(tables.commands.has(item.name) || containers.has(item.name))
      case 'option':
        return sureIf(hasOption(tables, item))
      case 'endpoint':
        return sureIf(hasEndpoint(tables, item.name))
      case 'header':
        return perhapsIf(hasHeader(tables, item.name.split(' ').at(-1)!))
      case 'parameter':
        return perhapsIf(hasWord(tables, item.name))
      case 'field': {
        const isOfSdk = /\.d\.ts:\d+$/.test(item.source)
        if (isOfSdk && (item.owner === undefined || !wireTypes.has(item.owner))) return 'perhaps'
        return perhapsIf(item.owner === undefined || hasWord(tables, item.name))
      }
      case 'status':
        return perhapsIf(tables.names.numbers.has(item.name.split(' ').at(-1)!) || / (?:default|\dXX)$/.test(item.name))
      case 'text':
        // Descriptions have no table.
        return item.text === undefined ? perhapsIf(hasText(tables, item.name)) : 'perhaps'
    }
  }
}

/** Returns the names of commands that have subcommands, such as XGROUP. */
export function containersOf({ commands }: Pick<OurTables, 'commands'>): ReadonlySet<string> {
  return new Set([...commands.keys()].filter((name) => name.includes(' ')).map((name) => name.split(' ')[0]!))
}

/** Whether the syntax of the command contains each word of the option. */
function hasOption({ commands }: OurTables, { name, owner = '' }: Item): boolean {
  // The first option of a container may be a subcommand.
  if (commands.has(name)) return true
  const words = new Set<string>()
  for (const [command, usage] of commands) {
    if (command !== owner && !command.startsWith(`${owner} `)) continue
    for (const word of usage.toUpperCase().split(/[^\w.-]+/)) words.add(word)
  }
  const option = name.slice(owner.length).trim().toUpperCase()
  return option.split(' ').every((word) => words.has(word))
}

function hasEndpoint({ endpoints }: OurTables, name: string): boolean {
  const [method, path] = name.split(' ') as [string, string]
  const management = `/v2/${upstashDialect.managementQueueSegment}/`
  const neutral = path.replace(management, `/v2/${neutralDialect.managementQueueSegment}/`)
  return endpoints.some(
    (row) => (method === 'ANY' || [row.method].flat().includes(method)) && matches(row.path, neutral),
  )
}

/** Whether a pattern such as `/v2/topics/:name/endpoints` or `/v2/publish/**` matches a path such as `/v2/topics/{}`. */
function matches(pattern: string, path: string): boolean {
  const parts = path.split('/')
  const wanted = pattern.split('/')
  const isOpen = wanted.at(-1) === '**'
  if (isOpen ? parts.length < wanted.length : parts.length !== wanted.length) return false
  return wanted.every((want, index) => {
    if (want === '**') return true
    if (want.startsWith(':')) return parts[index] !== ''
    return want.toLowerCase() === parts[index]!.toLowerCase()
  })
}

/** Prefixes of header names, and of settings within them, that are open groups. */
const openHeaders = /^(?:upstash-)?(?:(?:failure-)?callback-)?(?:forward-|telemetry-)/

/** Headers whose names are not constants of the sources: those of rate limits, and one that the transport adds. */
const composedHeaders: ReadonlySet<string> = new Set([
  ...(['chat', 'daily', 'burst'] as const).flatMap((kind) => Object.keys(rateLimitHeaders(kind))).map(lowerCase),
  'connection',
])

function hasHeader({ names }: OurTables, name: string): boolean {
  if (openHeaders.test(name) || composedHeaders.has(name)) return true
  const own = name.replace(/^(?:upstash|qstash)-/, '')
  const inner = own.replace(/^(?:failure-)?callback-(?=.)/, '')
  return [name, own, inner, `service-${own}`].some((one) => names.words.has(one))
}

function lowerCase(text: string): string {
  return text.toLowerCase()
}

/** Whether our sources contain the last word of a name: `cursor` of `GET /v2/dlq cursor`, `id` of `Message owner.id`. */
function hasWord({ names }: OurTables, name: string): boolean {
  const word = name.split(' ').at(-1)!.split('.').at(-1)!.toLowerCase()
  return names.words.has(word)
}

/** Least number of constant characters in one of our texts, so that not every text matches `${a} ${b}`. */
const minConstant = 8

/** Whether one of our texts is the text with other values. */
function hasText({ names }: OurTables, text: string): boolean {
  const withoutCode = text.replace(/^-?ERR /, '')
  return names.texts.some((parts) => isFilled(parts, text) || isFilled(parts, withoutCode))
}

/** Whether a text consists of the parts, in order, with any values between them, or is the beginning of the first. */
function isFilled(parts: readonly string[], text: string): boolean {
  const [first = '', ...others] = parts
  const last = others.at(-1) ?? first
  // Documents leave out the end of some texts, such as the place of an error in a script.
  if (text.length >= minConstant && first.startsWith(text)) return true
  if (parts.length === 1) return text === first
  if (parts.join('').length < minConstant || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return true
}
