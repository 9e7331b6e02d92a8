import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { connect } from '../../../../src/client/connect.js'
import { didYouMean } from '../../../../src/kernel/nearest-name.js'
import { excerpt, plainText } from '../../../../src/report/safe-text.js'
import { commandEnvironment, controlTokenVariable, fromEnvironment } from '../config.js'

const formats = {
  shell: (name: string, value: string) => `export ${name}='${value.replaceAll("'", "'\\''")}'`,
  dotenv: (name: string, value: string) => `${name}="${value.replace(/(["\\$`])/g, '\\$1')}"`,
  github: (name: string, value: string) => `${name}=${value}`,
  powershell: (name: string, value: string) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
  json: undefined,
} as const

export const program: Program = {
  args: {
    url: { type: 'string', valueHint: 'URL', default: 'http://127.0.0.1:4010', description: 'the running server' },
    tenant: { type: 'string', valueHint: 'NAME', default: 'main', description: 'whose addresses and tokens' },
    format: {
      type: 'string',
      valueHint: Object.keys(formats).join('|'),
      default: 'shell',
      description: 'for whom the lines are',
    },
    'control-token': {
      type: 'string',
      valueHint: 'T',
      description: `token that the server asks other machines for, also as ${controlTokenVariable}`,
    },
  },
  examples: [
    'eval "$(stuntdouble env)"',
    'stuntdouble env --format dotenv > .env.test',
    'stuntdouble env --format github >> "$GITHUB_ENV"',
  ],
  run: async (given) => {
    const env = await environmentOf(given)
    const name = textOf(given, 'format', 'FORMAT')!
    if (!Object.hasOwn(formats, name)) {
      throw new UsageError(`--format is one of ${Object.keys(formats).join(', ')}, not ${JSON.stringify(name)}.`)
    }
    const line = formats[name as keyof typeof formats]
    if (line === undefined) console.log(JSON.stringify(env, undefined, 2))
    else for (const [variable, value] of Object.entries(env)) console.log(line(variable, value))
    return 0
  },
}

async function environmentOf(given: ParsedArguments): Promise<Readonly<Record<string, string>>> {
  const [origin, tenant] = [textOf(given, 'url', 'URL')!, textOf(given, 'tenant', 'NAME')!]
  const env = commandEnvironment(origin, tenant, (await connected(given)).env)
  for (const [name, value] of Object.entries(env)) {
    if (/^[A-Za-z_]\w{0,200}$/.test(name) && typeof value === 'string' && plainText(value) === value) continue
    throw new UsageError(
      `The server at ${origin} gives a variable that is not safe for a shell: ${excerpt(`${name}=${value}`, 80)}. Is it stuntdouble serve?`,
    )
  }
  return env
}

/** The tenant that the options name. @throws UsageError where no server answers */
export async function connected(given: ParsedArguments): ReturnType<typeof connect> {
  const controlToken = textOf(fromEnvironment(given), 'control-token', 'T')
  try {
    return await connect(textOf(given, 'url', 'URL')!, {
      tenant: textOf(given, 'tenant', 'NAME')!,
      ...(controlToken !== undefined && { controlToken }),
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/**
 * For commands that only look: a tenant that nobody has used has nothing to show, and is not made by looking. `main` is
 * there with every server.
 * @throws UsageError with the tenants that there are
 */
export async function refuseUnknownTenant(given: ParsedArguments): Promise<void> {
  const name = textOf(given, 'tenant', 'NAME')!
  if (name === 'main') return
  const tenants = await tenantsOf(given).catch(() => undefined)
  if (tenants === undefined || tenants.includes(name)) return
  const known = tenants.map(plainText)
  throw new UsageError(
    `The server at ${textOf(given, 'url', 'URL')} has no tenant ${JSON.stringify(name)}.${didYouMean(name, known)} ${known.length === 0 ? 'It has none yet.' : `It has ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}.`}`,
  )
}

/** The tenants of a server; `undefined` where what answers is none, or does not let us in: `connect()` tells that. */
async function tenantsOf(given: ParsedArguments): Promise<readonly string[] | undefined> {
  const token = textOf(fromEnvironment(given), 'control-token', 'T')
  const answer = await fetch(new URL('/_control', textOf(given, 'url', 'URL')), {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(patience),
  })
  const { tenants } = (await answer.json()) as { tenants?: unknown }
  return Array.isArray(tenants) && tenants.every((one) => typeof one === 'string') ? tenants : undefined
}

/** Host milliseconds for a list of names. */
const patience = 10_000
