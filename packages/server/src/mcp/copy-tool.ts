import { type CopyFormat, copyFormats, copyFormatsFor } from '../../../../src/report/copy/copy-forms.js'
import type { CopySelection } from '../../../../src/report/copy/selection.js'
import { multiLine } from '../../../../src/report/safe-text.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { hidden } from '../../../../src/secrets/secret-shapes.js'
import type { McpTarget } from './mcp-target.js'
import { Mistake } from './mistake.js'
import { common } from './operation-tools.js'
import type { ToolArguments, ToolResult, ToolRow } from './tool-row.js'

/** Number of entries that are read before and after the selection, to find the entries that belong to it. */
const margin = 500

const forms = copyFormats.map(({ name }) => name)

/** Tool that copies entries in a format for other programs. */
export const copyTool: ToolRow = {
  name: 'copy_as',
  description: `Copies entries in one of these formats: ${copyFormats.map(({ name, label }) => `${name} (${label})`).join('; ')}. Select one entry, a message, or a range of entries. Secrets become environment variables.`,
  input: {
    type: 'object',
    properties: {
      form: { type: 'string', enum: forms, description: forms.join(', ') },
      entry: { type: 'integer', minimum: 1, description: '`seq` of an entry' },
      message: { type: 'string', description: 'ID of a message' },
      from: { type: 'integer', minimum: 1, description: '`seq` of the first entry of a range' },
      to: { type: 'integer', minimum: 1, description: '`seq` of the last entry of the range' },
      tenant: common.tenant,
      page: common.page,
    },
    required: ['form'],
    additionalProperties: false,
  },
  effect: 'reads',
  inParts: true,
  ofTraces: true,
  next: 'write the text to a file unchanged, because it is already escaped for its language.',
  run: copied,
}

async function copied(world: McpTarget, given: ToolArguments, signal?: AbortSignal): Promise<ToolResult> {
  const { form: name, tenant } = given as { form: string; tenant?: string }
  const form = copyFormats.find((one) => one.name === name)
  if (form === undefined) throw new Mistake(`"form" must be one of ${forms.join(', ')}.`)
  const selection = await selectionOf(world, given, signal)
  refuseUnfit(form, selection)
  const facts = world.isTrace ? {} : (await world.ask({ path: '', tenant, signal })).value
  const { urls } = facts as { urls?: Readonly<Record<string, unknown>> }
  const text = form.render(selection, urls === undefined ? {} : { addresses: urls })
  const secrets = await world.secrets(tenant)
  // The secrets in the entries are already redacted. Redact only known secrets here, because the names of environment
  // variables look like secrets.
  return { data: multiLine(secrets.filter(isLong).reduce((out, secret) => out.replaceAll(secret, hidden), text)) }
}

function isLong(secret: string): boolean {
  return secret.length >= 6
}

function refuseUnfit(form: CopyFormat, selection: CopySelection): void {
  const fitting = copyFormatsFor(selection)
  if (fitting.includes(form)) return
  const others = fitting.map(({ name }) => name).join(', ')
  throw new Mistake(
    others === ''
      ? 'This entry cannot be copied. Choose a request, a delivery or a message.'
      : `${form.name} is not possible for this selection. Use ${others}.`,
  )
}

async function selectionOf(world: McpTarget, given: ToolArguments, signal?: AbortSignal): Promise<CopySelection> {
  const { entry, message, from, to, tenant } = given as Chosen
  const ask = async (path: string): Promise<readonly TraceEntry[]> => {
    const { ok, value } = await world.ask({ path: `/traffic?${path}`, tenant, signal })
    return ok && Array.isArray(value) ? value : []
  }
  if (
    [entry, message, from ?? to].filter((one) => one !== undefined).length !== 1 ||
    (from === undefined) !== (to === undefined)
  )
    throw new Mistake('Give exactly one of "entry", "message", or "from" with "to".')
  const own = message === undefined ? [] : await ask(`limit=${margin}&${new URLSearchParams({ message })}`)
  if (message !== undefined && own.length === 0)
    throw new Mistake('There is no message with this ID. Call list_messages or get_timeline for IDs.')
  const first = entry ?? from ?? own[0]!.seq
  const last = entry ?? to ?? own.at(-1)!.seq
  if (message === undefined && (last < first || last - first > maxCopied))
    throw new Mistake(`"to" must be the same as "from", or at most ${maxCopied} entries later.`)
  const limit = Math.min(last - first + 2 * margin, maxCopied)
  const around = await ask(`after=${Math.max(first - margin - 1, 0)}&limit=${limit}`)
  const entries = [...new Map([...around, ...own].map((one) => [one.seq, one])).values()].sort((a, b) => a.seq - b.seq)
  if (!entries.some(({ seq }) => seq === first))
    throw new Mistake('There is no entry with this number. Call get_timeline for the numbers of entries.')
  if (message !== undefined) return { entries, message }
  return entry === undefined ? { entries, range: [first, last] } : { entries, entry }
}

/** Maximum number of entries that are read for one copy. */
export const maxCopied = 5_000

interface Chosen {
  readonly entry?: number
  readonly message?: string
  readonly from?: number
  readonly to?: number
  readonly tenant?: string
}
