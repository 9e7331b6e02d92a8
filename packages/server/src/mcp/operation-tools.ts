import { toJsonSchema } from '@valibot/to-json-schema'
import { Redaction } from '../../../../src/report/redaction.js'
import { excerpt } from '../../../../src/report/safe-text.js'
import { hidden } from '../../../../src/secrets/secret-shapes.js'
import { controlOperations } from '../control/control.js'
import type { ControlOperation } from '../control/operation.js'
import type { Tool } from '../control/tool.js'
import type { ControlCall, ControlResponse, McpTarget } from './mcp-target.js'
import { printable } from './printable.js'
import type { InputSchema, ToolArguments, ToolResult, ToolRow } from './tool-row.js'

type ToolOrder = ControlOperation & { readonly tool: Tool }

/** Maximum number of entries in a timeline and of items in a list. A longer response would be slow and hard to read. */
export const maxItems = 1_000
/** Names of the query parameters that are numbers. */
const numbers: ReadonlySet<string> = new Set(['limit', 'skip', 'after', 'around', 'bodies'])

/** Schemas of the arguments that many tools have. */
export const common = {
  tenant: { type: 'string', description: 'another tenant of the same server; list_tenants lists them' },
  page: { type: 'integer', minimum: 1, description: 'number of the page of a long response' },
  full: { type: 'boolean', description: 'whether to return long texts completely; use page for a long response' },
} as const

/** Tools that each run one operation of the control API. */
export const operationTools: readonly ToolRow[] = controlOperations.filter(isTool).map((order) => {
  const { tool, summary } = order
  const input = inputOf(order)
  return {
    name: tool.name,
    description: `${tool.does ?? summary} ${tool.when}`,
    input,
    effect: tool.effect,
    next: tool.next,
    ...(tool.ofTraces && { ofTraces: true }),
    inParts: tool.effect === 'reads',
    run: (world, given, signal) => runOrder(order, world, given, signal),
  }
})

function isTool(order: ControlOperation): order is ToolOrder {
  return order.tool !== undefined
}

function inputOf(order: ToolOrder): InputSchema {
  const { tool } = order
  const body = bodyOf(order)
  const path = namesIn(order.path).map((name) => [name, { type: 'string' }])
  const query = Object.entries(order.query ?? {})
    .filter(([name]) => tool.without?.includes(name) !== true)
    .map(([name, what]) => [name, queryOf(name, what, tool)])
  const properties = { ...Object.fromEntries([...path, ...query]), ...body.properties } as Record<string, object>
  for (const [name, description] of Object.entries(tool.args ?? {})) {
    if (Object.hasOwn(properties, name)) properties[name] = { ...properties[name], description }
  }
  return {
    type: 'object',
    properties: {
      ...properties,
      tenant: common.tenant,
      ...(tool.effect === 'reads' && { page: common.page, full: common.full }),
    },
    required: [...namesIn(order.path), ...body.required],
    additionalProperties: isOpen(order),
  }
}

function queryOf(name: string, what: string, { defaults }: Tool): object {
  const without = defaults?.[name] === undefined ? '' : `; default ${defaults[name]}`
  // The text after the first semicolon is the default of the control API. Omit it, because the tool has its own
  // default.
  const description = `${without === '' && !numbers.has(name) ? what : what.split(';')[0]}${without}`
  if (!numbers.has(name)) return { type: 'string', description }
  return name === 'limit'
    ? { type: 'integer', minimum: 1, maximum: maxItems, description }
    : { type: 'integer', minimum: 0, description }
}

interface BodyPart {
  readonly properties: Readonly<Record<string, object>>
  readonly required: readonly string[]
}

/**
 * Returns the schemas of the fields of a body. They need not be exact, because the server checks the details. The
 * server's messages are better.
 */
function bodyOf({ body }: ControlOperation): BodyPart {
  if (body === undefined) return { properties: {}, required: [] }
  const { $schema: _, ...schema } = toJsonSchema(body, { errorMode: 'ignore', typeMode: 'input' })
  const { properties = {}, required = [], anyOf } = schema as Partial<BodyPart> & { anyOf?: readonly BodyPart[] }
  if (anyOf === undefined) return { properties, required }
  return { properties: Object.assign({}, ...anyOf.map((one) => one.properties)), required: [] }
}

/** Returns whether a body takes further fields, such as the options of a message. */
function isOpen({ body }: ControlOperation): boolean {
  return (body as { type?: string } | undefined)?.type === 'loose_object'
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
}

async function runOrder(
  order: ToolOrder,
  world: McpTarget,
  given: ToolArguments,
  signal?: AbortSignal,
): Promise<ToolResult> {
  const { tool } = order
  const { tenant, page: _, full: whole = false, ...args } = given
  const target = { tenant: tenant as string | undefined, signal }
  const body = Object.fromEntries(Object.entries(args).filter(([name]) => isOfBody(order, name)))
  const asking = {
    ...target,
    method: order.method,
    path: pathOf(order, args),
    ...(order.body !== undefined && { body }),
  }
  const mark = tool.tells ? await world.ask({ ...target, path: '/traffic/mark' }) : undefined
  const told = await world.ask(asking)
  const redaction = new Redaction({ secrets: await world.secrets(target.tenant, args.region as string | undefined) })
  const showing = { redaction, whole: whole === true }
  if (!told.ok) return refused(told, redaction, commandOf(tool, args))
  const data = printable(withoutHidden(tool, args, told.value, redaction), showing)
  const next = nextOf(tool, args, told)
  if (mark === undefined) return data === '' ? { said: 'Done.', next } : { data, next }
  const story = await storySince(world, mark.value as { mark: number }, target)
  return { data: `${data}\n\n${printable(story, showing)}`, next }
}

async function storySince(
  world: McpTarget,
  { mark }: { mark: number },
  target: Partial<ControlCall>,
): Promise<unknown> {
  const told = await world.ask({ ...target, path: `/traffic/timeline?after=${mark}&limit=${fewEvents}&ids=full` })
  return told.value === '(no traffic)' ? '(nothing happened)' : told.value
}

/** Maximum number of entries in the timeline after a call that advances time. */
const fewEvents = 40

function isOfBody(order: ToolOrder, name: string): boolean {
  return !namesIn(order.path).includes(name) && !Object.hasOwn(order.query ?? {}, name)
}

function pathOf({ path, query: known = {}, tool }: ToolOrder, args: ToolArguments): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(args[name] ?? '')))
  const query = new URLSearchParams()
  for (const name of Object.keys(known)) {
    const value = args[name] ?? tool.defaults?.[name]
    if (value !== undefined && tool.without?.includes(name) !== true) query.set(name, String(value))
  }
  return query.size === 0 ? filled : `${filled}?${query}`
}

/** Returns the result for an error of the server. The error is fenced as data, because it may quote the app. */
function refused({ value }: ControlResponse, redaction: Redaction, argv: readonly string[]): ToolResult {
  const { error } = (typeof value === 'object' && value !== null ? value : {}) as { error?: unknown }
  const sentence = typeof error === 'string' ? error : 'The URL is not that of a stuntdouble server.'
  return {
    isError: true,
    said: 'The call was rejected; the data contains the reason.',
    data: excerpt(inTools(redaction.errorOf(argv, sentence)), 2_000),
    next: 'change the arguments according to the reason, or call get_status.',
  }
}

/** Replaces operations of the control API in a message by the names of their tools. */
function inTools(sentence: string): string {
  return sentence.replace(/\b(GET|POST|PUT|DELETE) (\/[\w:/-]*\w)/g, (named, method: string, path: string) => {
    const order = controlOperations.find((one) => one.method === method && one.path === path)
    return order?.tool === undefined ? named : order.tool.name
  })
}

/** Removes fields that agents do not need from a response, and redacts the reply of a command that reads a secret. */
function withoutHidden(tool: Tool, args: ToolArguments, value: unknown, redaction: Redaction): unknown {
  const { hides = [] } = tool
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const left = Object.fromEntries(Object.entries(value).filter(([name]) => !hides.includes(name)))
  const argv = commandOf(tool, args)
  if (argv.length === 0 || !('reply' in left)) return left
  return { ...left, reply: redaction.hidesReply(argv) ? hidden : redaction.reply(argv, left.reply) }
}

/** Returns the command and arguments that a tool runs; empty for other tools. */
function commandOf({ command }: Tool, args: ToolArguments): readonly string[] {
  const words = command === undefined ? undefined : args[command]
  return Array.isArray(words) ? words.map(String) : []
}

function nextOf({ next, defaults }: Tool, { skip, limit }: ToolArguments, { hasMore }: ControlResponse): string {
  if (!hasMore) return next
  const following = Number(skip ?? 0) + Number(limit ?? defaults?.limit ?? maxItems)
  return `the list has more items: call again with "skip": ${following}. Or ${next}`
}
